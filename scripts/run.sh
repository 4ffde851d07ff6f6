#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles FILE.mlir for the best device here, runs it and checks the numbers:
#
#   scripts/run.sh FILE.mlir [gpu-runner's options]
#
# From a bare clone on Debian it installs and builds what that takes. The preset is `dev`, which
# scripts/test.sh has as well, so there is one tree to build and it builds fastest. It costs no
# speed on the device: kernels, the CPU target's too, are optimized by LLVM whatever the preset.
# TESSERA_PRESET=release takes another one.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages
build gpu-runner
exec "$(build_dir)/bin/gpu-runner" "$@"
