#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/fuzz-programs.sh [SECONDS]: feeds texts that nearly are programs to the parser, the compiler for the CPU and,
# where they are harmless, the CPU itself, under the sanitizers (60 s). It starts from the programs of examples/ and
# test/. Findings are stored in build/fuzz/fuzz-programs, and so is the corpus, for the next time.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
PRESET=fuzz
need_packages
build program-fuzzer
dir=$(build_dir)/fuzz-programs
mkdir -p "$dir/seeds" "$dir/corpus"
# Each program of a file with several; large ones only take time.
python3 - "$ROOT" "$dir/seeds" <<'END'
import hashlib, pathlib, re, sys
root, seeds = map(pathlib.Path, sys.argv[1:])
for folder in ("examples", "test/Execution", "test/Runner", "test/CAPI", "test/Fuzz", "test/Pipelines", "test/Conversion"):
    for path in (root / folder).rglob("*.mlir"):
        for text in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
            text = re.sub(r"^\s*//.*\n", "", text, flags=re.M).strip() + "\n"
            if 20 < len(text) < 3000:
                (seeds / hashlib.sha1(text.encode()).hexdigest()[:16]).write_text(text)
END
# One process after another, so that a find does not end the search.
cd "$dir"
status=0
"$(build_dir)/bin/program-fuzzer" -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -max_total_time="${1-60}" \
  -timeout=60 -rss_limit_mb=6000 -max_len=8000 -artifact_prefix="$dir/" "$dir/corpus" "$dir/seeds" || status=$?
found=$(find "$dir" -maxdepth 1 \( -name 'crash-*' -o -name 'timeout-*' -o -name 'oom-*' \) | wc -l)
[[ $found == 0 ]] || die "$found finds in $dir"
exit $status
