// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
def Op {
  let description = [{
    Interleaved tiles are turned round.
    ```mlir
    // Of no interest: code
    ```
  }];
}
