#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Formats the C++ files of the tree; --check prints which ones need it, and fails.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES=()
need_packages clang-format-22

cd "$ROOT"
files() { git ls-files -z --cached --others --exclude-standard '*.cpp' '*.h'; }
if [[ ${1-} == --check ]]; then
  wrong=$(files | xargs -0 clang-format-22 --dry-run -Werror 2>&1 |
    sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | uniq) || true
  [[ -z $wrong ]] || die "run scripts/format.sh; wrong format:" $wrong
else
  files | xargs -0 clang-format-22 -i
fi
