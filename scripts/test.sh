#!/usr/bin/env bash
# The tests: installs what is missing, builds everything in build/release and runs ctest. Arguments go to ctest, e.g.
# `scripts/test.sh -L unit` or `scripts/test.sh -R codec`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_dependencies.sh

# quickstart.sh turns tests off in the same folder, so they are turned on explicitly.
if ! log=$(cmake --preset release -D GOSSAMER_TESTS=ON -D GOSSAMER_BENCH=ON 2>&1); then
  echo "$log" >&2
  exit 1
fi
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)" "$@"
