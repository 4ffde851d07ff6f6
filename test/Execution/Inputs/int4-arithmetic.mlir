// Arithmetic of i4 itself: wrapping at 4 bits, and signedness.
#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<1024xi4>, %b: tensor<1024xi4>) -> (tensor<1024xi32>, tensor<1024xf32>) {
  %e = tensor.empty() : tensor<1024xi32>
  %f = tensor.empty() : tensor<1024xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<1024xi4>, tensor<1024xi4>) outs(%e, %f : tensor<1024xi32>, tensor<1024xf32>) {
  ^bb0(%x: i4, %y: i4, %o: i32, %p: f32):
    %c3 = arith.constant 3 : i4
    %one = arith.constant 1 : i4
    %sum = arith.addi %x, %y : i4
    %difference = arith.subi %x, %y : i4
    %product = arith.muli %sum, %y : i4
    %left = arith.shli %product, %one : i4
    %right = arith.shrsi %left, %one : i4
    %logical = arith.shrui %difference, %one : i4
    %mixed = arith.xori %right, %logical : i4
    %least = arith.minsi %mixed, %x : i4
    %most = arith.maxui %least, %y : i4
    %half = arith.divsi %most, %c3 : i4
    %rest = arith.remui %most, %c3 : i4
    %less = arith.cmpi slt, %x, %y : i4
    %below = arith.cmpi ult, %sum, %difference : i4
    %first = arith.select %less, %half, %most : i4
    %second = arith.select %below, %rest, %first : i4
    %signed = arith.extsi %second : i4 to i32
    %unsigned = arith.extui %product : i4 to i32
    %c16 = arith.constant 16 : i32
    %high = arith.muli %signed, %c16 : i32
    %whole = arith.addi %high, %unsigned : i32
    %g = arith.sitofp %second : i4 to f32
    %h = arith.uitofp %sum : i4 to f32
    %n = arith.fptosi %g : f32 to i4
    %m = arith.sitofp %n : i4 to f32
    %s = arith.addf %m, %h : f32
    linalg.yield %whole, %s : i32, f32
  } -> (tensor<1024xi32>, tensor<1024xf32>)
  return %r#0, %r#1 : tensor<1024xi32>, tensor<1024xf32>
}
