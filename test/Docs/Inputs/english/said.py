# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Nobody looked at it, for want of time; what is left says so.
