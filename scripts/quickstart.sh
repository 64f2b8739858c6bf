#!/usr/bin/env bash
# From a fresh checkout to a trained model: installs what is missing, builds the gossamer command and trains a small
# network on drawn digits with four workers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/install_dependencies.sh

echo "Building the gossamer command in build/release: three to five minutes on two processors"
# A machine without a GPU needs no kernels for one; scripts/test.sh compiles them wherever there is a compiler for them.
no_gpu=ON
if command -v nvidia-smi >/dev/null && nvidia-smi >/dev/null 2>&1; then
  no_gpu=OFF
fi
if ! log=$(cmake --preset release -D GOSSAMER_TESTS=OFF -D GOSSAMER_BENCH=OFF \
  -D CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=$no_gpu 2>&1); then
  echo "$log" >&2
  exit 1
fi
cmake --build --preset release --target gossamer --parallel "$(nproc)"

gossamer=$PWD/build/release/bin/gossamer
echo "Training: $gossamer train"
summary=$("$gossamer" train)
echo "$summary"
folder=${summary##*$'\n'}
echo "The run is in $PWD/${folder%% holds *}: open plot.svg there."
echo "Next: $gossamer train --algorithm d-psgd --codec uniform:bits=8, or $gossamer list algorithms."
