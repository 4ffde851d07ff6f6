#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes docs/generated anew from the .td files, and from the chips' tables.
#
#   scripts/docs.sh                  builds them and copies them into the tree
#   scripts/docs.sh --check [BUILD]  fails where the tree's differ from those built in BUILD
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [[ ${1-} == --check ]]; then
  built=${2-$(build_dir)}/docs/generated
  diff -ruN "$ROOT/docs/generated" "$built" | head -40 ||
    die "docs/generated differs from the .td files and the tables; run scripts/docs.sh"
else
  need_packages
  build tessera-docs
  rm -rf "$ROOT/docs/generated"
  cp -r "$(build_dir)/docs/generated" "$ROOT/docs/"
fi
