# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# exits.sh CODE COMMAND...
wanted=$1
shift
"$@"
got=$?
[ "$got" = "$wanted" ] && exit 0
echo "exits.sh: status $got, not $wanted: $*" >&2
exit 1
