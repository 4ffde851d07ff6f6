// Programs for repeat.c: sizes and scalars that change, host code that reads a
// scalar of the device, on which the number of its launches depends.

func.func @scaled(%a: tensor<?x64xf32>, %n: index, %f: f32) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : tensor<?x64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<?x64xf32> {
    %e = tensor.empty(%rows) : tensor<?x64xf32>
    %y = linalg.map ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) (%in: f32, %o: f32) {
      %m = arith.mulf %in, %f : f32
      linalg.yield %m : f32
    }
    scf.yield %y : tensor<?x64xf32>
  }
  return %r : tensor<?x64xf32>
}

func.func @reads(%a: tensor<64xf32>, %n: tensor<index>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = tensor.extract %n[] : tensor<index>
  %r = scf.for %i = %c0 to %count step %c1 iter_args(%x = %a) -> tensor<64xf32> {
    %e = tensor.empty() : tensor<64xf32>
    %y = linalg.map ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) (%in: f32, %o: f32) {
      %m = arith.addf %in, %in : f32
      linalg.yield %m : f32
    }
    scf.yield %y : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
