#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) over the files of the tree, or over those whose path matches one of
# the regular expressions given: scripts/tidy.sh lib/Conversion
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages clang-tidy-22
build # For the generated headers.

# Without the precompiled header: it hides includes that are missing, which are errors here.
database=$(build_dir)/tidy
mkdir -p "$database"
sed -E 's/ -Winvalid-pch//; s/ -Xclang -include(-pch)? -Xclang [^ ]+//g' \
  "$(build_dir)/compile_commands.json" >"$database/compile_commands.json"

cd "$ROOT"
[[ $# == 0 ]] && set -- "$ROOT/(lib|tools|unittests)/"
log=$(mktemp) status=0
run-clang-tidy-22 -quiet -p "$database" "$@" >"$log" 2>/dev/null || status=$?
# Diagnostics, and not the commands by which each file was looked at.
grep -vE '^\[|^$|warnings generated' "$log" || true
rm -f "$log"
exit $status
