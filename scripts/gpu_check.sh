#!/usr/bin/env bash
# Builds everything for the GPUs of this machine in build/cuda, runs every check that needs one, and prints one table.
#
#   scripts/gpu_check.sh                 installs what is missing, as scripts/test.sh does
#   scripts/gpu_check.sh --debs DIR      takes the packages from DIR instead, and needs no network or rights
#   scripts/gpu_check.sh --fetch DIR     fills such a folder, on another machine with the same release; builds nothing
#
# The CUDA toolkit, g++ and cmake must be installed. The output of each check is in build/cuda/gpu_check.
# Exit status: 0 if all checks passed; 1 if a check failed, or could not be run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

mode=install folder=
case "${1:-}" in
"") ;;
--debs | --fetch)
  [[ $# -eq 2 ]] || usage
  mode=${1#--} folder=$2
  ;;
*) usage ;;
esac

# Downloads the packages of install_dependencies.sh that are libraries or ninja, and the libraries that they need.
fetch() {
  mkdir -p "$folder"
  local wanted package
  wanted=$(sed -n '/^packages=(/,/^)/p' scripts/install_dependencies.sh | grep -oE '\b(lib[a-z0-9+-]+|[a-z0-9-]+-dev|ninja-build)\b')
  for package in $wanted; do
    echo "$package"
    apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces "$package" |
      sed -n 's/^ *Depends: \(z\{0,1\}lib[^ <>]*\)$/\1/p' | grep -vE '^lib(c6|c6-dev|gcc-s1|stdc\+\+6|ssl.*)$' || true
  done | sort -u | (cd "$folder" && xargs apt-get download)
  echo "$folder holds $(find "$folder" -name '*.deb' | wc -l) packages, $(du -sh "$folder" | cut -f1)"
}

unpack() {
  local root=$PWD/build/gpu_debs deb link
  local libraries=$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu
  mkdir -p "$root"
  for deb in "$folder"/*.deb; do
    dpkg -x "$deb" "$root"
  done
  find "$root" -type l -lname '/*' ! -lname "$root/*" | while read -r link; do
    ln -sf "$root$(readlink "$link")" "$link"
  done
  export PATH=$root/usr/bin:$PATH CMAKE_PREFIX_PATH=$root/usr CPATH=$root/usr/include
  export LIBRARY_PATH=$libraries LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

if [[ $mode == fetch ]]; then
  fetch
  exit
fi
if [[ $mode == debs ]]; then # with `&&` and `||`, a package that cannot be unpacked would go unnoticed
  unpack
else
  scripts/install_dependencies.sh
fi
[[ -d /usr/local/cuda/bin ]] && PATH=$PATH:/usr/local/cuda/bin

logs=build/cuda/gpu_check
bin=$PWD/build/cuda/bin
mkdir -p "$logs"
rows=() failures=0

# check NAME COMMAND...: adds one row to the table. A test program that only skips its cases does not pass.
check() {
  local name=$1 began=$SECONDS result=passed
  local log=$logs/${name//[^a-z0-9]/_}.txt
  shift
  echo "-- $name: $*"
  if ! "$@" >"$log" 2>&1; then
    result="FAILED: $(grep -vE '^\s*$' "$log" | tail -n 1)"
  elif grep -q '\[  SKIPPED \]' "$log"; then
    result="SKIPPED: $(grep -B 1 -m 1 '\[  SKIPPED \]' "$log" | head -n 1)"
  fi
  [[ $result == passed ]] || failures=$((failures + 1))
  rows+=("$(printf '| %-34s | %5d s | %s |' "$name" $((SECONDS - began)) "$result")")
}

sanitise() { # TOOL: one of compute-sanitizer's
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed"; return 1; }
  compute-sanitizer --tool "$1" --error-exitcode 1 "$bin/cuda_gpu" --gtest_filter='-*learns*' # those take too long
}

train() { # ARGUMENTS of gossamer train, on the embedded digits
  local out status=0
  out=$(mktemp -d)
  "$bin/gossamer" train --epochs 3 --seed 1 --out "$out/run" "$@" || status=$?
  rm -r "$out"
  return "$status"
}

check "configure" cmake --preset cuda
check "build" cmake --build --preset cuda --parallel "$(nproc)"
if ((failures == 0)); then
  check "kernels on the processor" "$bin/cuda_host_twin"
  check "whole runs on the processor" "$bin/cuda_world_laws"
  check "devices that fail" "$bin/cuda_device_loss"
  check "kernels and runs on the GPU" "$bin/cuda_gpu"
  check "memcheck" sanitise memcheck
  check "racecheck" sanitise racecheck
  for algorithm in all-reduce-sgd ad-psgd dcd-psgd marsit asy-lpg; do
    check "train $algorithm" train --algorithm "$algorithm" --workers 4 --device cuda:0
  done
  check "two workers on the GPU, two not" train --algorithm ad-psgd --workers 4 --device cuda:0+cpu
  for bench in "$bin"/gpu_*_bench; do
    check "$(basename "$bench")" "$bench"
  done
  if python3 -c 'import torch' 2>/dev/null; then # for comparison only
    check "torch_steps" bench/cuda/torch_steps.py
  fi
fi

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null || echo "no GPU was found"
printf '%s\n' "| check | time | result |" "|---|---|---|" "${rows[@]}"
if ((failures > 0)); then
  echo "$failures of ${#rows[@]} checks did not pass; see $logs"
  exit 1
fi
for figures in "$logs"/{gpu_*_bench,torch_steps}.txt; do
  if [[ -e $figures ]]; then
    echo && cat "$figures"
  fi
done
