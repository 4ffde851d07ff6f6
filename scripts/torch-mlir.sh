#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/torch-mlir.sh: installs the version of torch-mlir that torch-mlir.py pins into an environment of
# its own (build/PRESET/torch-mlir), and runs that script with the preset's gpu-runner. Exit status 77, with
# the reason, if the wheel cannot be installed: it exists for a few versions of Python and kinds of
# machines.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages python3-venv
build gpu-runner
dir=$(build_dir)
version=$(sed -n 's/^PINNED = "\(.*\)"$/\1/p' "$ROOT/scripts/torch-mlir.py")
[[ $version ]] || die "torch-mlir.py pins no version"
env=$dir/torch-mlir
if [[ ! -e $env/installed-$version ]]; then
  rm -rf "$env"
  /usr/bin/python3 -m venv "$env"
  pip() { "$env/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
  # It depends on PyTorch's wheel, which the import of ONNX models does not need.
  if ! why=$(pip install --only-binary=torch-mlir --no-deps "torch-mlir==$version" 2>&1); then
    say "skipped: torch-mlir $version cannot be installed: $(tail -n 1 <<<"$why")"
    exit 77
  fi
  pip install onnx numpy packaging
  touch "$env/installed-$version"
fi
exec "$env/bin/python" "$ROOT/scripts/torch-mlir.py" --runner="$dir/bin/gpu-runner" "$@"
