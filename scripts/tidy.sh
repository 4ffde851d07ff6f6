#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy), 20 seconds for each file:
#
#   scripts/tidy.sh                 over all files of the tree
#   scripts/tidy.sh lib/Conversion  over those whose path matches one of these regular expressions
#   scripts/tidy.sh --hours=6       over those changed by commits of the last 6 hours before the newest one
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
if [[ ${1-} == --hours=* ]]; then
  hours=${1#*=}
  [[ $hours =~ ^[0-9]+$ ]] || die "$1: a number of hours is wanted, as in --hours=6"
  since=$(($(git log -1 --format=%ct) - hours * 3600))
  mapfile -t files < <(git log --since="@$since" --format= --name-only -- '*.cpp' | sort -u |
    while read -r file; do [[ ! -e $file ]] || echo "$file"; done)
  say "looking at ${#files[@]} of $(git ls-files '*.cpp' | wc -l) files, those changed in $hours hours"
  [[ ${#files[@]} == 0 ]] && exit
  # They are regular expressions, of the whole path's end.
  set -- "${files[@]/%/\$}"
elif [[ $# == 0 ]]; then
  set -- "$ROOT/(lib|tools|unittests)/"
fi
log=$(mktemp) status=0
run-clang-tidy-22 -quiet -p "$database" "$@" >"$log" 2>/dev/null || status=$?
# Diagnostics, and not the commands by which each file was looked at.
grep -vE '^\[|^$|warnings generated' "$log" || true
rm -f "$log"
exit $status
