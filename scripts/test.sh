#!/usr/bin/env bash
# The tests: installs what is missing, builds everything in build/release and runs ctest. Arguments go to ctest, e.g.
# `scripts/test.sh -L unit` or `scripts/test.sh -R codec`. The tests of the Python package run where python3, or
# $PYTHON, has nanobind, pytest and NumPy.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_dependencies.sh

python=(-D GOSSAMER_PYTHON=OFF)
if "${PYTHON:=python3}" -c 'import nanobind, numpy, pytest' 2>/dev/null; then
  python=(-D GOSSAMER_PYTHON=ON -D Python_EXECUTABLE="$(command -v "$PYTHON")")
else
  echo "The Python package is not tested: $PYTHON lacks nanobind, NumPy or pytest (scripts/check.sh python gets them)"
fi

# quickstart.sh turns tests off in the same folder, and code for GPUs where there is none, so they are turned on.
if ! log=$(cmake --preset release -D GOSSAMER_TESTS=ON -D GOSSAMER_BENCH=ON \
  -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=OFF "${python[@]}" 2>&1); then
  echo "$log" >&2
  exit 1
fi
cmake --build --preset release --parallel "$(nproc)"
ctest --preset release --parallel "$(nproc)" "$@"
