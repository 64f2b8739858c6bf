#!/usr/bin/env bash
# Runs the fuzzers that the preset `fuzz` has built, as many at once as there are processors.
#
#   scripts/fuzz.sh                        all of them, for 30 s each
#   scripts/fuzz.sh 600 plan_fuzz csv_fuzz these two, for ten minutes each
#
# Inputs that add coverage stay in build/fuzz/corpus, beside seeds that are made anew. FUZZ_SEED=N draws other inputs
# (0: others every time). Inputs that make a fuzzer fail are kept in build/fuzz/found; the command that shows a failure
# again is printed. Exit status: 1 when a fuzzer failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-30}
shift $(($# > 0))
bin=build/fuzz/bin
fuzzers=("$@")
if ((${#fuzzers[@]} == 0)); then
  for source in tests/fuzz/*_fuzz.cpp; do
    fuzzers+=("$(basename "$source" .cpp)")
  done
fi
if [[ ! -x $bin/fuzz_seeds ]]; then
  echo "fuzz.sh: $bin/fuzz_seeds is not there; cmake --preset fuzz && cmake --build --preset fuzz --target fuzzers" >&2
  exit 1
fi
rm -rf build/fuzz/seeds
"$bin/fuzz_seeds" build/fuzz/seeds

run_one() { # NAME
  local name=$1 found=build/fuzz/found/$1
  local log=$found/log.txt
  rm -rf "$found"
  mkdir -p "$found" "build/fuzz/corpus/$name"
  # 4096 bytes hold a record of CIFAR-10; an input that takes 10 s or 2 GiB counts as a failure.
  if "$bin/$name" -max_total_time="$seconds" -seed="${FUZZ_SEED:-1}" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$found/" "build/fuzz/corpus/$name" "build/fuzz/seeds/$name" >"$log" 2>&1; then
    local inputs
    inputs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")
    echo "$name: ${inputs:-0} inputs, nothing found"
    return $((${inputs:-0} == 0)) # a run without inputs shows nothing
  fi
  echo "$name: FAILED"
  grep -vE '^#[0-9]+' "$log" | tail -n 40
  for input in "$found"/*-*; do
    echo "replay: $bin/$name $input"
  done
  return 1
}
export -f run_one
export bin seconds
printf '%s\0' "${fuzzers[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'run_one "$1" || exit 1' _ || exit 1
