#!/usr/bin/env bash
# Makes Debian packages for the system that this runs on: gossamer, libgossamer-dev and, where LibTorch is installed,
# gossamer-torch.
#
#   scripts/packages.sh [OUT]            the packages go to OUT, otherwise to build/packages
#   scripts/packages.sh --check [OUT]    and are installed, run and removed in a minimal system; needs root, debootstrap
#
# TORCH=no leaves LibTorch out. The minimal system stays in build/chroot-CODENAME; remove it when it is too old.
set -euo pipefail

check=
if [[ ${1-} == --check ]]; then
  check=yes
  shift
fi
if (($# > 1)) || [[ ${1-} == -* ]]; then
  sed -n '5,6s/^# *//p' "$0" >&2
  exit 2
fi
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/packages}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in dpkg-shlibdeps file; do
  command -v $tool >/dev/null || { echo "there is no $tool: scripts/install_dependencies.sh --packages" >&2; exit 1; }
done
export CCACHE_BASEDIR=$PWD # no path of this machine is compiled in
work=$PWD/build/for-packages

# The CUDA toolkit is no part of Debian, on which the packages may depend.
cmake --preset release -B "$work" -D GOSSAMER_TESTS=OFF -D GOSSAMER_BENCH=OFF \
  -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON -D CMAKE_DISABLE_FIND_PACKAGE_Torch="$([[ ${TORCH-} == no ]] && echo ON || echo OFF)"
cmake --build "$work" -j "${JOBS:-$(nproc)}"
rm -rf "$work/debs" # OUT may hold packages of others, and $work those of another version
(cd "$work" && cpack -B "$work/debs")
debs=("$work"/debs/*.deb)
mkdir -p "$out"
cp "${debs[@]}" "$out"
(cd "$out" && ls -l "${debs[@]##*/}")
[[ $check ]] || exit 0

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error "${debs[@]}"
fi
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
chroot=$PWD/build/chroot-$codename
[[ -e $chroot/etc/debian_version ]] || debootstrap --variant=minbase "$codename" "$chroot"
mkdir -p "$chroot/packages"
rm -f "$chroot"/packages/*
cp "${debs[@]}" "$chroot/packages"
mount --bind /proc "$chroot/proc"
trap 'umount "$chroot/proc"' EXIT
chroot "$chroot" /bin/bash -euo pipefail -s <<'INSIDE'
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt-get -qq update
listed() { find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path /root -o -path /packages \) -prune -o -print | LC_ALL=C sort; }
# The packages of Debian that they need come and go by themselves, so they are installed before, and stay.
needed=$(for package in /packages/*.deb; do dpkg-deb --field "$package" Depends; done | tr ',' '\n' |
  sed 's/ *(.*//; s/|.*//; s/^ *//' | grep -v gossamer | sort -u)
apt-get -qq install --no-install-recommends $needed g++ cmake make >/dev/null
listed >/tmp/before
apt-get -qq install --no-install-recommends /packages/*.deb >/dev/null
cd /tmp
gossamer --version
gossamer train --epochs 1 --out /tmp/run
for page in gossamer gossamer-train; do test -s /usr/share/man/man1/$page.1.gz; done
bash -c 'source /usr/share/bash-completion/completions/gossamer; COMP_WORDS=(gossamer tra) COMP_CWORD=1; _gossamer
         [[ ${COMPREPLY[*]} == train ]]'
if [[ -e /usr/lib/gossamer/libgossamer_torch.so ]]; then
  gossamer train --model cnn --data digits:samples=400,test=100 --workers 2 --steps 2 --out /tmp/torch
fi
mkdir -p /tmp/user
cat >/tmp/user/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(gossamer REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user gossamer::apps)
CMAKE
printf '#include "gossamer/apps/command.hpp"\nint main(int n, char** v) { return gossamer::apps::run_command(n, v); }\n' >/tmp/user/user.cpp
cmake -S /tmp/user -B /tmp/user/build >/dev/null
cmake --build /tmp/user/build >/dev/null
/tmp/user/build/user list >/dev/null
apt-get -qq purge $(dpkg-query --show --showformat='${Package}\n' '*gossamer*') >/dev/null
listed >/tmp/after
diff /tmp/before /tmp/after
rm -rf /tmp/run /tmp/torch /tmp/user
echo "packages: installed, run and removed"
INSIDE
