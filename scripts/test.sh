#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds everything and runs all tests:
#
#   scripts/test.sh                                   all of them
#   scripts/test.sh test/Dialect examples/01-*.mlir   some, by their path in the tree
#   scripts/test.sh unittests --filter=Layout         lit's own options work as well
#   scripts/test.sh --param=run_long_tests=false      without those that need long_tests
#
# Lists what was skipped and why; the last line is `N passed, N failed, N skipped`.
# TESSERA_PRESET=asan tests another preset than dev. With TESSERA_TEST_SECONDS=N, tests that did not end
# after N seconds are skipped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need_packages
build

# lit finds its configuration from a test's path in the build tree.
dir=$(build_dir)
suites=() options=()
for arg; do
  if [[ -e $arg ]]; then
    relative=$(realpath --relative-to="$ROOT" "$arg")
    [[ $relative =~ ^(test|examples|unittests)(/|$) ]] || die "$arg is not under test, examples or unittests"
    suites+=("$dir/$relative")
  else
    options+=("$arg")
  fi
done
[[ ${#suites[@]} == 0 ]] && suites=("$dir"/{test,examples,unittests})

say "testing preset $PRESET"
report=$dir/test-results.xml
rm -f "$report"
status=0
# lit's --max-time is the limit of each wait for a test. A process that was started in the background
# ignores the interrupt, unless it is reset.
limit=()
[[ -z ${TESSERA_TEST_SECONDS-} ]] ||
  limit=(timeout --foreground --preserve-status -s INT "$TESSERA_TEST_SECONDS" env --default-signal=INT)
"${limit[@]}" "$LLVM/bin/lit" -q --allow-empty-runs --xunit-xml-output="$report" \
  "${options[@]}" "${suites[@]}" >"$dir/test.log" 2>&1 || status=$?
[[ -e $report ]] || { cat "$dir/test.log" >&2; die "lit ran no test; see above"; }
python3 "$ROOT/scripts/summary.py" "$report" "$dir/unittests/bin"
exit $status
