#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/python.sh: builds the wheel of the Python package against the preset's libtessera, installs it
# into an environment of its own (build/PRESET/python) and runs its tests there. The wheel is left in
# build/PRESET/wheel. TESSERA_PRESET=portable makes one for other machines. The tests of PyTorch, CuPy and
# the classifier's accuracy are skipped unless their packages are installed too:
# TESSERA_PYTHON_PACKAGES="torch onnxscript scikit-learn" or "torch cupy-cuda12x".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages python3-venv python3-dev
build tessera-c TesseraFakeCuda
dir=$(build_dir)
# The distribution's Python, whose headers are installed.
[[ -x $dir/python/bin/python ]] || /usr/bin/python3 -m venv "$dir/python"
pip() { "$dir/python/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
pip install 'scikit-build-core>=0.10' 'nanobind>=2.11' numpy ml_dtypes onnx pytest \
  ${TESSERA_PYTHON_PACKAGES:-}
rm -rf "$dir/wheel"
pip wheel --no-build-isolation --no-deps "$ROOT/python" -w "$dir/wheel" \
  --config-settings=cmake.define.TESSERA_BUILD="$dir"
pip install --force-reinstall --no-deps "$dir"/wheel/*.whl
ls -l "$dir/wheel" >&2
# Elsewhere than beside the package's sources, which are not built.
cd "$dir"
TESSERA_FAKE_CUDA=$PWD/unittests/cuda "$dir/python/bin/python" -m pytest -q -p no:cacheprovider "$ROOT/python/tests"
