#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/fuzz-bundles.sh [SECONDS]: feeds damaged bundles to what reads them, under the sanitizers (60 s). It
# starts from bundles of the examples; its findings are left in build/PRESET/fuzz-bundles.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_packages
build bundle-fuzzer gpu-runner
dir=$(build_dir)
corpus=$dir/fuzz-bundles/corpus
mkdir -p "$corpus"
for program in "$ROOT"/examples/*.mlir; do
  name=$(basename "$program" .mlir)
  "$dir/bin/gpu-runner" "$program" --emit=bundle --target=cpu,cuda:sm_80,hip:gfx942 -o "$corpus/$name.whole" ||
    continue
  # Without what the driver puts before each input.
  tail -c +18 "$corpus/$name.whole" >"$corpus/$name"
  rm "$corpus/$name.whole"
done
exec "$dir/bin/bundle-fuzzer" -max_total_time="${1-60}" -max_len=200000 -timeout=10 \
  -artifact_prefix="$dir/fuzz-bundles/" -print_final_stats=1 "$corpus"
