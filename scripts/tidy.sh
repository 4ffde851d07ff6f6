#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs clang-tidy (.clang-tidy), 20 seconds for each file, 2 for one that it has passed before with the
# same text, headers, options and checks ($XDG_CACHE_HOME/tessera/tidy):
#
#   scripts/tidy.sh                 over all files of the tree
#   scripts/tidy.sh lib/Conversion  over those whose path matches one of these regular expressions
#   scripts/tidy.sh --hours=6       over those changed by commits of the last 6 hours before the newest one
#   scripts/tidy.sh --minutes=10 [--hours=6]  the same for 10 minutes; the files left out are reported
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages clang-tidy-22
build # For the generated headers.

# One command for each source, without the precompiled header: both hide missing includes, which are
# errors here.
database=$(build_dir)/tidy
mkdir -p "$database"
python3 "$ROOT/scripts/compile_commands.py" "$(build_dir)/compile_commands.json" \
  >"$database/compile_commands.json"
python3 -c 'import json, re, sys
for entry in json.load(sys.stdin):
    print(re.sub(r" -o [^ ]+", "", entry["command"]))' <"$database/compile_commands.json" >"$database/commands"

cd "$ROOT"
# Other sources, such as inputs of tests, are not in the database.
pattern="^(lib|tools|unittests)/"
minutes=
if [[ ${1-} == --minutes=* ]]; then
  minutes=${1#*=}
  [[ $minutes =~ ^[0-9]+$ ]] || die "$1: expected a number of minutes, as in --minutes=10"
  shift
fi
if [[ ${1-} == --hours=* ]]; then
  hours=${1#*=}
  [[ $hours =~ ^[0-9]+$ ]] || die "$1: expected a number of hours, as in --hours=6"
  since=$(($(git log -1 --format=%ct) - hours * 3600))
  # Those with the most changed lines first. Git prints a moved file as lib/{A => B}/C.cpp.
  mapfile -t files < <(git log --since="@$since" --format= --numstat -M -- '*.cpp' |
    sed -E 's/\{[^}]* => ([^}]*)\}/\1/; s/\t[^\t]* => /\t/; s#//#/#g' |
    awk -F'\t' '{ lines[$3] += $1 + $2 } END { for (file in lines) print lines[file] "\t" file }' |
    sort -k1,1nr -k2 | cut -f2 | grep -E "$pattern" | while read -r file; do [[ ! -e $file ]] || echo "$file"; done)
else
  [[ $# == 0 ]] || pattern=$(IFS='|'; echo "$*")
  mapfile -t files < <(git ls-files '*.cpp' | grep -E "$pattern")
fi
say "checking ${#files[@]} of $(git ls-files '*.cpp' | wc -l) files"
[[ ${#files[@]} != 0 ]] || exit 0

# hash_inputs FILE: prints a hash of all that clang-tidy's findings depend on: the text of the file and its
# headers, with comments, definitions and inclusions, the options and the checks.
hash_inputs() {
  local command
  set -o pipefail
  command=$(grep -F -m 1 -- "-c $ROOT/$1" "$database/commands") || return
  { eval "${command/ -c / } -E -C -dD -dI -o -" && cat .clang-tidy && clang-tidy-22 --version && echo "$command"; } 2>/dev/null |
    sha256sum | cut -d' ' -f1
}

# look FILE: prints what clang-tidy finds. Past the deadline it writes the file's name to $left.
look() {
  if [[ -n $deadline && $(date +%s) -ge $deadline ]]; then
    echo "$1" >>"$left"
    return
  fi
  local key
  # A file that cannot be preprocessed has a key that nothing has.
  key=$(hash_inputs "$1") || key=none
  [[ ! -e $passed/$key ]] || return 0
  if ! clang-tidy-22 -quiet -p "$database" "$1" 2>/dev/null; then
    echo "$1" >>"$wrong"
  elif [[ $key != none ]]; then
    touch "$passed/$key"
  fi
}
passed=${XDG_CACHE_HOME:-$HOME/.cache}/tessera/tidy
mkdir -p "$passed"
export -f hash_inputs look
export ROOT database passed left wrong deadline
left=$(mktemp) wrong=$(mktemp) deadline=
[[ -z $minutes ]] || deadline=$(($(date +%s) + minutes * 60))
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'look "$0"'
skipped=$(wc -l <"$left") failed=$(wc -l <"$wrong")
[[ $skipped == 0 ]] || say "not checked, for lack of time: $skipped files, of which the first: $(head -n 3 "$left" | xargs)"
[[ $failed == 0 ]] || say "clang-tidy found something in $failed files"
rm -f "$left" "$wrong"
[[ $failed == 0 ]]
