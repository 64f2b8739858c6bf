#!/usr/bin/env bash
# Installs the packages that Gossamer is built from, on Debian 12 and later and on Ubuntu 24.04 and later. Installs only
# missing packages: without one it does nothing and needs no rights.
#
#   scripts/install_dependencies.sh            what users need
#   scripts/install_dependencies.sh --checks   and the clang tools of .ci/run
#   scripts/install_dependencies.sh --slurm    and Slurm, for ctest `slurm`
#   scripts/install_dependencies.sh --browser  and Chromium, for ctest `live_page`
#   scripts/install_dependencies.sh --torch    and LibTorch, for convolutions, transformers and models of PyTorch
#   scripts/install_dependencies.sh --packages and what makes Debian packages
#   scripts/install_dependencies.sh --python   and what builds and tests the Python package; with --torch, PyTorch too
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache pkg-config python3 git
  libcaf-dev libasio-dev libeigen3-dev libhwy-dev libspdlog-dev libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev
  libmicrohttpd-dev libjs-dygraphs
  libgtest-dev libgmock-dev libbenchmark-dev libdeflate-dev libzip-dev libxxhash-dev libssl-dev
)
for flag in "$@"; do
  case "$flag" in
  --checks) packages+=(clang clang-format clang-tidy libclang-rt-dev) ;;
  --slurm) packages+=(slurmctld slurmd slurm-client munge) ;;
  --browser) packages+=(chromium chromium-driver python3-selenium) ;;
  --torch) packages+=(libtorch-dev libopenblas0-openmp) ;;
  --packages) packages+=(dpkg-dev file) ;;
  --python) packages+=(python3-dev python3-venv python3-pip python3-numpy python3-pytest) ;;
  *)
    sed -n '5,11s/^# *//p' "$0" >&2
    exit 2
    ;;
  esac
done
[[ " $* " == *" --python "* && " $* " == *" --torch "* ]] && packages+=(python3-torch)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "This is not a Debian system: please see to it that your system has what Debian calls ${packages[*]}." >&2
  exit 0 # the packages may be installed; otherwise CMake names the first missing one
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "Missing: ${missing[*]}. Run this as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing ${missing[*]}"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
apt update
apt install --yes --no-install-recommends "${missing[@]}" >/dev/null
