// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The pass that decides about copies of operands and the one that chooses schedules compare the schedules of a
// contraction once. Threads could copy the rows of these: before, each pass compared them twice.
// REQUIRES: asserts

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
