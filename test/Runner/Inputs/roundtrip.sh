# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# roundtrip.sh FOLDER TYPE...: an array of each type is written to a file, read from it, and written
# again: the files have to be the same.
folder=$1
shift
for type in "$@"; do
  echo "func.func @main(%a: tensor<3x5x$type>) -> tensor<3x5x$type> { return %a : tensor<3x5x$type> }" \
    > $folder/same.mlir
  gpu-runner --target=cpu $folder/same.mlir --out=0=$folder/first.npy > $folder/log &&
    gpu-runner --target=cpu $folder/same.mlir --arg=@$folder/first.npy --verify --out=0=$folder/second.npy > $folder/log &&
    cmp $folder/first.npy $folder/second.npy && echo "$type: same" || exit 1
done
