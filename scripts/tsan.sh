#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/tsan.sh [ARGS...]: the library that runs bundles under ThreadSanitizer, used by many threads at a time. It
# builds that library and unittests/CAPI/ConcurrencyTest.cpp with preset tsan, and the bundle with preset dev
# (TESSERA_PRESET), and runs the test 200 times (25 s); ARGS are GoogleTest's. A race is printed, and the exit
# status is 66.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_packages
build gpu-runner
bundler=$(build_dir)/bin/gpu-runner
PRESET=tsan
build concurrency-test
dir=$(build_dir)
"$bundler" "$ROOT/test/CAPI/Inputs/queue.mlir" --emit=bundle --target=cpu -o "$dir/queue.bundle"
# More threads than cores, so that they meet; drivers of other targets are not tested.
export TESSERA_CPU_THREADS=4 TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 ${TSAN_OPTIONS-}"
exec "$dir/unittests/bin/concurrency-test" "$dir/queue.bundle" --gtest_brief=1 --gtest_repeat=200 "$@"
