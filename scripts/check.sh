#!/usr/bin/env bash
# What guards main: the tests, as the README says, and then what they leave out. CONTRIBUTING.md says what runs where.
#
#   scripts/check.sh                    everything
#   scripts/check.sh nightly            what .ci/run leaves out, because an hour does not suffice for it
#   scripts/check.sh format fuzz        these stages only
#   scripts/check.sh --minutes 40 ...   stages that would begin later are left out, and it says so
#
# Installs what is missing, on Debian 12. All stages run, also when one has failed; what each printed is in
# build/ci/STAGE.log, and the end of that is shown when it failed. Exit status: 1 when one failed.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CCACHE_BASEDIR=$PWD # the clone of the stage `consumer` compiles nothing anew

stages=(tests install format tidy consumer browser slurm torch python fuzz apart asan tsan wheel)

tests() {
  scripts/test.sh || return
  # A precompiled header that does not fit is left out with a warning, and the sources compile half as long again.
  if grep -q 'gch: not used because' build/ci/tests.log; then
    echo 'tests: error: a precompiled header was left out; the first "gch: not used because" above says why'
    return 1
  fi
}

install() { scripts/install_dependencies.sh --checks; }

# each BATCH PATTERNS... -- COMMAND...: the command with so many files of the repository at a time. None is a failure.
each() {
  local batch=$1 patterns=() files
  shift
  while [[ $1 != -- ]]; do patterns+=("$1") && shift; done
  shift
  mapfile -d '' files < <(git ls-files -z "${patterns[@]}")
  ((${#files[@]} > 0)) || { echo "there is no file like ${patterns[*]}" && return 1; }
  printf '%s\0' "${files[@]}" | xargs -0 -n "$batch" -P "$(nproc)" "$@" && echo "${#files[@]} files"
}

format() { each 50 '*.cpp' '*.hpp' '*.cu' '*.cuh' -- clang-format --dry-run --Werror; }

# Each source and each public header by itself: the other builds unite sources.
apart() {
  cmake --preset apart && cmake --build --preset apart --parallel "$(nproc)" --target gossamer headers_alone
}

# The tests of the documentation and the style ran above, and find nothing else here. Those that play every thread of a
# GPU one after the other would take half an hour.
asan() {
  cmake --preset fuzz && cmake --build --preset fuzz --parallel "$(nproc)" --target unit_tests law_tests || return
  GOSSAMER_TEST_EFFORT=10 ctest --preset fuzz --parallel "$(nproc)" -L 'unit|law' \
    -E '^((style|docs|layers)(_self_test)?|cuda_host_twin|cuda_world_laws)$'
}

# With clang and both sanitizers.
fuzz() {
  cmake --preset fuzz && cmake --build --preset fuzz --parallel "$(nproc)" --target fuzzers && scripts/fuzz.sh 20
}

# The united sources of the libraries: to parse the headers that they share takes two thirds of the time. Without the
# stubs for a missing CUDA toolkit.
tidy() {
  local units
  cmake --preset fuzz || return
  mapfile -t units < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' build/fuzz/compile_commands.json |
    grep -E "^$PWD/(build/fuzz/)?(base|topology|compress|compute|actors|apps)/" | grep -vE '/(cuda|networks|examples)/|/page_files.cpp$')
  ((${#units[@]} > 0)) || { echo 'there is nothing to look at' && return 1; }
  printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/fuzz --quiet \
    --checks=-bugprone-suspicious-include --header-filter="(gossamer|$PWD)/.*" && echo "${#units[@]} units"
}

# Only tests that start threads themselves: others have none, or CAF's, which it cannot follow.
tsan() {
  cmake --preset tsan && cmake --build --preset tsan --parallel "$(nproc)" --target threads_tests &&
    ctest --preset tsan -L threads
}

# The commit, without anything that lies about here, as a user would install it.
consumer() {
  local clone=$PWD/build/ci/clone
  rm -rf "$clone" && git clone --quiet . "$clone" && cd "$clone" || return
  export CCACHE_BASEDIR=$clone
  cmake --preset release -D GOSSAMER_TESTS=OFF -D GOSSAMER_BENCH=OFF &&
    cmake --build --preset release --parallel "$(nproc)" &&
    cmake -D BUILD="$clone/build/release" -D SCRATCH="$clone/build/consumer" -D GENERATOR=Ninja -D COMPILER=c++ \
      -D BUILD_TYPE=Release -P tests/consumer/consumer.cmake
}

# What the tests skip where it is missing.
browser() { scripts/install_dependencies.sh --browser && ctest --preset release -R '^live_page$'; }
slurm() { scripts/install_dependencies.sh --slurm && ctest --preset release -R '^slurm$'; }

# What is left out where LibTorch is missing, as it was until now. Last, so that nothing above finds it.
torch() {
  scripts/install_dependencies.sh --torch && cmake --preset release -D GOSSAMER_TORCH=ON &&
    cmake --build --preset release --parallel "$(nproc)" --target gossamer torch_test torchscript_test &&
    ctest --preset release -R '^torch'
}

# The Python package, with Debian's Python and PyTorch. Only nanobind comes from elsewhere.
python() {
  scripts/install_dependencies.sh --python --torch || return
  local venv=$PWD/build/venv
  [[ -x $venv/bin/python ]] || /usr/bin/python3 -m venv --system-site-packages "$venv" || return
  if ! "$venv/bin/pip" install --quiet 'nanobind>=2.4' mypy==2.4.1; then
    echo 'python: skipped, because nanobind and mypy cannot be had from PyPI'
    return 0
  fi
  PYTHON=$venv/bin/python scripts/test.sh -L python --no-tests=error &&
    "$venv/bin/mypy" --check-untyped-defs --ignore-missing-imports build/release/python/gossamer
}

wheel() { scripts/wheel.sh; }

# `times` knows the children of its own shell only, so it cannot stand in a pipe.
cpu_seconds() { # of all that has run so far, into cpu
  times >build/ci/times
  cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%d", 60 * $1 + $2 + 60 * $3 + $4 }' build/ci/times)
}

minutes=
[[ ${1-} == --minutes ]] && { minutes=$2 && shift 2; }
(($# > 0)) && wanted=("$@") || wanted=("${stages[@]}")
[[ "${wanted[*]}" == nightly ]] && wanted=(install apart asan tsan wheel)
for stage in "${wanted[@]}"; do
  [[ " ${stages[*]} " == *" $stage "* ]] || { echo "no stage '$stage'; there are ${stages[*]}, or nightly for what .ci/run leaves out" >&2; exit 2; }
done

mkdir -p build/ci
rows=() failed=0
for stage in "${wanted[@]}"; do
  echo "-- $stage"
  cpu_seconds
  began=$SECONDS cpu_began=$cpu verdict=passed
  if [[ $minutes && $SECONDS -gt $((60 * minutes)) ]]; then
    verdict="left out, after $minutes min"
  elif ("$stage") >"build/ci/$stage.log" 2>&1; then
    tail -n 3 "build/ci/$stage.log" # how many tests, files or inputs there were
  else
    verdict=FAILED failed=1
    tail -n 300 "build/ci/$stage.log"
  fi
  cpu_seconds
  row=$(printf '| %-8s | %6d | %6d | %s |' "$stage" $((SECONDS - began)) $((cpu - cpu_began)) "$verdict")
  echo "$row"
  rows+=("$row")
done

printf '\n%s\n' "| stage    | s      | cpu s  | verdict |"
printf '%s\n' "|---|---|---|---|" "${rows[@]}"

# Once more and last, where a log that is cut at its beginning still has it.
for row in "${rows[@]}"; do
  [[ $row == *FAILED* ]] || continue
  read -r _ stage _ <<<"$row"
  printf '\n-- what failed in %s\n' "$stage"
  grep -aE -A 8 ': (Failure|error|fatal error)\b|CMake Error|\[  FAILED  \]|\((Failed|Timeout|SEGFAULT|Subprocess aborted)\)' \
    "build/ci/$stage.log" | cut -c -400 | tail -n 45
done
exit "$failed"
