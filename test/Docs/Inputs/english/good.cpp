// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rejects a view: there is no copy, and the view is no longer valid. What does
// it cost? `Of x` and `is no x` are code. Of course, a dot product has no
// accumulator type. The product of the extents is not a power of two; run
// tessera-repack-operands in turn.
const char *a = "connection refused: there is no server behind a firewall, if "
                "no port is given";
int products; // Passes `products` to matmul.products(1) and to %product.
