#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/fuzz-models.sh [SECONDS]: feeds damaged .onnx files to the reader and importer, under the sanitizers (60 s). It
# starts from the models of the tests; its findings are left in build/PRESET/fuzz-models.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_packages
build model-fuzzer
dir=$(build_dir)
corpus=$dir/fuzz-models/corpus
mkdir -p "$corpus"
for test in "$ROOT"/test/Import/*.test; do
  python3 "$ROOT/test/Import/Inputs/write-onnx.py" "$test" "$corpus/$(basename "$test" .test).onnx" 2>/dev/null || true
done
exec "$dir/bin/model-fuzzer" -max_total_time="${1-60}" -max_len=20000 -timeout=20 -rss_limit_mb=4000 \
  -artifact_prefix="$dir/fuzz-models/" -print_final_stats=1 "$corpus"
