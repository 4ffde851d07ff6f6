#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes docs/generated anew from the .td files, and from the chips' tables; and what follows from the
# definition of schedule fields: a table in docs/Schedules.md, and docs/tuning-config.schema.json.
#
#   scripts/docs.sh                  builds them and copies them into the tree
#   scripts/docs.sh --check [BUILD]  fails where the tree's differ from those built in BUILD
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# docs/Schedules.md with the table of fields that BUILD's tool prints.
print_schedules() {
  local table
  table=$("$1/bin/tessera-tables" schedule-fields)
  TABLE=$table awk '
    /^<!-- end -->$/ { skips = 0 }
    !skips { print }
    /^<!-- tessera-tables schedule-fields -->$/ { skips = 1; print ENVIRON["TABLE"] }
  ' "$ROOT/docs/Schedules.md"
}

if [[ ${1-} == --check ]]; then
  build=${2-$(build_dir)}
  {
    diff -ruN "$ROOT/docs/generated" "$build/docs/generated" &&
      diff -u "$ROOT/docs/Schedules.md" <(print_schedules "$build") &&
      diff -u "$ROOT/docs/tuning-config.schema.json" <("$build/bin/tessera-tables" tuning-schema)
  } | head -40 ||
    die "docs differs from the .td files, the tables and the schedule fields; run scripts/docs.sh"
else
  need_packages
  build tessera-docs
  build=$(build_dir)
  rm -rf "$ROOT/docs/generated"
  cp -r "$build/docs/generated" "$ROOT/docs/"
  print_schedules "$build" >"$build/docs/Schedules.md"
  cp "$build/docs/Schedules.md" "$ROOT/docs/"
  "$build/bin/tessera-tables" tuning-schema >"$ROOT/docs/tuning-config.schema.json"
fi
