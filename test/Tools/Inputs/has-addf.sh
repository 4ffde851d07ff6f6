#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Interesting (1) is a file with an addition in it.
grep -q arith.addf "$1" && exit 1
exit 0
