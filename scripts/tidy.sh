#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy), 20 seconds for each file:
#
#   scripts/tidy.sh                 over all files of the tree
#   scripts/tidy.sh lib/Conversion  over those whose path matches one of these regular expressions
#   scripts/tidy.sh --recent=40     over the 40 that were changed last, by the repository's history
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
if [[ ${1-} == --recent=* ]]; then
  count=${1#*=}
  mapfile -t files < <(git log --format= --name-only -- '*.cpp' | awk '!seen[$0]++' |
    while read -r file; do [[ ! -e $file ]] || echo "$file"; done)
  [[ ${#files[@]} -gt $count ]] && say "looking at $count of ${#files[@]} files, those changed last"
  set -- "${files[@]:0:count}"
  # They are regular expressions, of the whole path's end.
  set -- "${@/%/\$}"
elif [[ $# == 0 ]]; then
  set -- "$ROOT/(lib|tools|unittests)/"
fi
log=$(mktemp) status=0
run-clang-tidy-22 -quiet -p "$database" "$@" >"$log" 2>/dev/null || status=$?
# Diagnostics, and not the commands by which each file was looked at.
grep -vE '^\[|^$|warnings generated' "$log" || true
rm -f "$log"
exit $status
