// Reductions of rows and the ops that use them, in the kernel of the matmul.
//
// One kernel each; two if N is too long or dynamic, or if the matmul is a result as well.
//
// RUN: gpu-runner %s --target=cpu --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax_dynamic --arg=random:1:45x24 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=layer_norm --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=rms_norm --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=row_max | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=row_sums | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=scaled_by_max | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=unsigned_min | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=batched | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=kept_dims --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=long_rows | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic_rows --arg=int:9x24 --arg=int:24x19 | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=product_too | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=written | FileCheck %s --check-prefix=EXACT
// CHECK: {{^}}verified
// EXACT: checked {{[1-9][0-9]*}}, exact
// EXACT: verified

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// KERNELS-LABEL: func.func @softmax(
// KERNELS: gpu.launch_func {{ *}}@softmax_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @softmax(%a: tensor<45x24xf16>, %b: tensor<24x77xf16>) -> tensor<45x77xf16> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<45x77xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<45x77xf32>) -> tensor<45x77xf32>
  %c = linalg.matmul ins(%a, %b : tensor<45x24xf16>, tensor<24x77xf16>) outs(%i : tensor<45x77xf32>) -> tensor<45x77xf32>
  %s = linalg.map ins(%c : tensor<45x77xf32>) outs(%e : tensor<45x77xf32>) (%x: f32, %o: f32) {
    %y = arith.mulf %x, %eighth : f32
    linalg.yield %y : f32
  }
  %p = linalg.softmax dimension(1) ins(%s : tensor<45x77xf32>) outs(%e : tensor<45x77xf32>) -> tensor<45x77xf32>
  %eh = tensor.empty() : tensor<45x77xf16>
  %h = linalg.map ins(%p : tensor<45x77xf32>) outs(%eh : tensor<45x77xf16>) (%x: f32, %o: f16) {
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }
  return %h : tensor<45x77xf16>
}

// KERNELS-LABEL: func.func @softmax_dynamic(
// KERNELS: gpu.launch_func {{ *}}@softmax_dynamic_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @softmax_dynamic(%a: tensor<?x24xf32>, %b: tensor<24x20xf32>) -> tensor<?x20xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x24xf32>
  %e = tensor.empty(%m) : tensor<?x20xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x20xf32>) -> tensor<?x20xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x24xf32>, tensor<24x20xf32>) outs(%i : tensor<?x20xf32>) -> tensor<?x20xf32>
  %p = linalg.softmax dimension(1) ins(%c : tensor<?x20xf32>) outs(%e : tensor<?x20xf32>) -> tensor<?x20xf32>
  return %p : tensor<?x20xf32>
}

// The mean, the variance about it, and the rest.
// KERNELS-LABEL: func.func @layer_norm(
// KERNELS: gpu.launch_func {{ *}}@layer_norm_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @layer_norm(%a: tensor<33x24xf32>, %b: tensor<24x50xf32>) -> tensor<33x50xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 50.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<33x50xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<33x50xf32>) -> tensor<33x50xf32>
  %c = linalg.matmul ins(%a, %b : tensor<33x24xf32>, tensor<24x50xf32>) outs(%i : tensor<33x50xf32>) -> tensor<33x50xf32>
  %er = tensor.empty() : tensor<33xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<33xf32>) -> tensor<33xf32>
  %sum = linalg.reduce { arith.addf } ins(%c : tensor<33x50xf32>) outs(%ir : tensor<33xf32>) dimensions = [1]
  %mean = linalg.map ins(%sum : tensor<33xf32>) outs(%er : tensor<33xf32>) (%x: f32, %o: f32) {
    %y = arith.divf %x, %count : f32
    linalg.yield %y : f32
  }
  %d = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%c, %mean : tensor<33x50xf32>, tensor<33xf32>) outs(%e : tensor<33x50xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.subf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<33x50xf32>
  %squares = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<33x50xf32>) outs(%ir : tensor<33xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    %z = arith.addf %o, %y : f32
    linalg.yield %z : f32
  } -> tensor<33xf32>
  %r = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%d, %squares : tensor<33x50xf32>, tensor<33xf32>) outs(%e : tensor<33x50xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %v = arith.divf %y, %count : f32
    %w = arith.addf %v, %epsilon : f32
    %s = math.rsqrt %w : f32
    %z = arith.mulf %x, %s : f32
    linalg.yield %z : f32
  } -> tensor<33x50xf32>
  return %r : tensor<33x50xf32>
}

// RMS norm of the matmul's result and a residual, with a weight for each column.
// KERNELS-LABEL: func.func @rms_norm(
// KERNELS: gpu.launch_func {{ *}}@rms_norm_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @rms_norm(%a: tensor<32x24xf32>, %b: tensor<24x32xf32>, %w: tensor<32xf32>, %residual: tensor<32x32xf32>)
    -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 32.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x24xf32>, tensor<24x32xf32>) outs(%residual : tensor<32x32xf32>) -> tensor<32x32xf32>
  %er = tensor.empty() : tensor<32xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %squares = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<32x32xf32>) outs(%ir : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    %z = arith.addf %o, %y : f32
    linalg.yield %z : f32
  } -> tensor<32xf32>
  %r = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%c, %squares, %w : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%x: f32, %y: f32, %weight: f32, %o: f32):
    %v = arith.divf %y, %count : f32
    %u = arith.addf %v, %epsilon : f32
    %s = math.rsqrt %u : f32
    %t = arith.mulf %x, %s : f32
    %z = arith.mulf %t, %weight : f32
    linalg.yield %z : f32
  } -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}

// No more than the largest element of each row.
// KERNELS-LABEL: func.func @row_max(
// KERNELS: gpu.launch_func {{ *}}@row_max_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @row_max(%a: tensor<37x24xf16>, %b: tensor<24x21xf16>) -> tensor<37xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<37x21xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<37x21xf32>) -> tensor<37x21xf32>
  %c = linalg.matmul ins(%a, %b : tensor<37x24xf16>, tensor<24x21xf16>) outs(%i : tensor<37x21xf32>) -> tensor<37x21xf32>
  %er = tensor.empty() : tensor<37xf32>
  %ir = linalg.fill ins(%lowest : f32) outs(%er : tensor<37xf32>) -> tensor<37xf32>
  %r = linalg.reduce { arith.maximumf } ins(%c : tensor<37x21xf32>) outs(%ir : tensor<37xf32>) dimensions = [1]
  return %r : tensor<37xf32>
}

// Added to the old value, and doubled.
// KERNELS-LABEL: func.func @row_sums(
// KERNELS: gpu.launch_func {{ *}}@row_sums_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @row_sums(%a: tensor<37x24xi8>, %b: tensor<24x21xi8>, %old: tensor<37xi32>) -> tensor<37xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x21xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<37x21xi32>) -> tensor<37x21xi32>
  %c = linalg.matmul ins(%a, %b : tensor<37x24xi8>, tensor<24x21xi8>) outs(%i : tensor<37x21xi32>) -> tensor<37x21xi32>
  %sum = linalg.reduce { arith.addi } ins(%c : tensor<37x21xi32>) outs(%old : tensor<37xi32>) dimensions = [1]
  %er = tensor.empty() : tensor<37xi32>
  %r = linalg.map { arith.addi } ins(%sum, %sum : tensor<37xi32>, tensor<37xi32>) outs(%er : tensor<37xi32>)
  return %r : tensor<37xi32>
}

// An initial value that is not neutral, and another read of the matmul's result.
// KERNELS-LABEL: func.func @scaled_by_max(
// KERNELS: gpu.launch_func {{ *}}@scaled_by_max_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @scaled_by_max(%a: tensor<40x24xi8>, %b: tensor<24x18xi8>, %bias: tensor<18xi32>) -> tensor<40x18xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<40x18xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<40x18xi32>) -> tensor<40x18xi32>
  %c = linalg.matmul ins(%a, %b : tensor<40x24xi8>, tensor<24x18xi8>) outs(%i : tensor<40x18xi32>) -> tensor<40x18xi32>
  %er = tensor.empty() : tensor<40xi32>
  %ten = arith.constant 10 : i32
  %ir = linalg.fill ins(%ten : i32) outs(%er : tensor<40xi32>) -> tensor<40xi32>
  %max = linalg.reduce { arith.maxsi } ins(%c : tensor<40x18xi32>) outs(%ir : tensor<40xi32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%c, %max, %bias : tensor<40x18xi32>, tensor<40xi32>, tensor<18xi32>) outs(%e : tensor<40x18xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i32, %o: i32):
    %d = arith.subi %x, %y : i32
    %s = arith.addi %d, %z : i32
    linalg.yield %s : i32
  } -> tensor<40x18xi32>
  return %r : tensor<40x18xi32>
}

// KERNELS-LABEL: func.func @unsigned_min(
// KERNELS: gpu.launch_func {{ *}}@unsigned_min_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @unsigned_min(%a: tensor<40x24xi8>, %b: tensor<24x18xi8>) -> tensor<40xi32> {
  %zero = arith.constant 0 : i32
  %ones = arith.constant -1 : i32
  %e = tensor.empty() : tensor<40x18xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<40x18xi32>) -> tensor<40x18xi32>
  %c = linalg.matmul ins(%a, %b : tensor<40x24xi8>, tensor<24x18xi8>) outs(%i : tensor<40x18xi32>) -> tensor<40x18xi32>
  %er = tensor.empty() : tensor<40xi32>
  %ir = linalg.fill ins(%ones : i32) outs(%er : tensor<40xi32>) -> tensor<40xi32>
  %r = linalg.reduce { arith.minui } ins(%c : tensor<40x18xi32>) outs(%ir : tensor<40xi32>) dimensions = [1]
  return %r : tensor<40xi32>
}

// Each batch has rows of its own, and the result is transposed.
// KERNELS-LABEL: func.func @batched(
// KERNELS: gpu.launch_func {{ *}}@batched_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @batched(%a: tensor<3x20x24xf16>, %b: tensor<3x24x18xf16>) -> tensor<18x3x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x20x18xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x20x18xf32>) -> tensor<3x20x18xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<3x20x24xf16>, tensor<3x24x18xf16>)
      outs(%i : tensor<3x20x18xf32>) -> tensor<3x20x18xf32>
  %er = tensor.empty() : tensor<3x20xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<3x20xf32>) -> tensor<3x20xf32>
  %sum = linalg.reduce { arith.addf } ins(%c : tensor<3x20x18xf32>) outs(%ir : tensor<3x20xf32>) dimensions = [2]
  %et = tensor.empty() : tensor<18x3x20xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, b, m) -> (b, m, n)>, affine_map<(n, b, m) -> (b, m)>,
                                        affine_map<(n, b, m) -> (n, b, m)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %sum : tensor<3x20x18xf32>, tensor<3x20xf32>) outs(%et : tensor<18x3x20xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.subf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<18x3x20xf32>
  return %r : tensor<18x3x20xf32>
}

// The reduced dimension is kept, with extent 1.
// KERNELS-LABEL: func.func @kept_dims(
// KERNELS: gpu.launch_func {{ *}}@kept_dims_kernel::
// KERNELS-NOT: gpu.launch_func
func.func @kept_dims(%a: tensor<1x20x24xf32>, %b: tensor<1x24x18xf32>) -> tensor<1x20x18xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 18.0 : f32
  %e = tensor.empty() : tensor<1x20x18xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x18xf32>) -> tensor<1x20x18xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<1x20x24xf32>, tensor<1x24x18xf32>)
      outs(%i : tensor<1x20x18xf32>) -> tensor<1x20x18xf32>
  %er = tensor.empty() : tensor<1x20x1xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<1x20x1xf32>) -> tensor<1x20x1xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, 0)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%c : tensor<1x20x18xf32>) outs(%ir : tensor<1x20x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  } -> tensor<1x20x1xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
                          iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sum : tensor<1x20x1xf32>) outs(%er : tensor<1x20x1xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.divf %x, %count : f32
    linalg.yield %y : f32
  } -> tensor<1x20x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, 0)>,
                                        affine_map<(b, m, n) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %mean : tensor<1x20x18xf32>, tensor<1x20x1xf32>) outs(%e : tensor<1x20x18xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.subf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<1x20x18xf32>
  return %r : tensor<1x20x18xf32>
}

// KERNELS-LABEL: func.func @long_rows(
// KERNELS: gpu.launch_func {{ *}}@long_rows_kernel::
// KERNELS: gpu.launch_func {{ *}}@long_rows_kernel_1::
func.func @long_rows(%a: tensor<9x8xf32>, %b: tensor<8x1000xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x1000xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x1000xf32>) -> tensor<9x1000xf32>
  %c = linalg.matmul ins(%a, %b : tensor<9x8xf32>, tensor<8x1000xf32>) outs(%i : tensor<9x1000xf32>) -> tensor<9x1000xf32>
  %er = tensor.empty() : tensor<9xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<9x1000xf32>) outs(%ir : tensor<9xf32>) dimensions = [1]
  return %r : tensor<9xf32>
}

// KERNELS-LABEL: func.func @dynamic_rows(
// KERNELS: gpu.launch_func {{ *}}@dynamic_rows_kernel::
// KERNELS: gpu.launch_func {{ *}}@dynamic_rows_kernel_1::
func.func @dynamic_rows(%a: tensor<9x24xf32>, %b: tensor<24x?xf32>) -> tensor<9xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %b, %c1 : tensor<24x?xf32>
  %e = tensor.empty(%n) : tensor<9x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x?xf32>) -> tensor<9x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<9x24xf32>, tensor<24x?xf32>) outs(%i : tensor<9x?xf32>) -> tensor<9x?xf32>
  %er = tensor.empty() : tensor<9xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<9x?xf32>) outs(%ir : tensor<9xf32>) dimensions = [1]
  return %r : tensor<9xf32>
}

// KERNELS-LABEL: func.func @product_too(
// KERNELS: gpu.launch_func {{ *}}@product_too_kernel::
// KERNELS: gpu.launch_func {{ *}}@product_too_kernel_1::
func.func @product_too(%a: tensor<9x24xf32>, %b: tensor<24x16xf32>) -> (tensor<9xf32>, tensor<9x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x16xf32>) -> tensor<9x16xf32>
  %c = linalg.matmul ins(%a, %b : tensor<9x24xf32>, tensor<24x16xf32>) outs(%i : tensor<9x16xf32>) -> tensor<9x16xf32>
  %er = tensor.empty() : tensor<9xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<9x16xf32>) outs(%ir : tensor<9xf32>) dimensions = [1]
  return %r, %c : tensor<9xf32>, tensor<9x16xf32>
}

// On memrefs, by hand: an output without N, and an extra for each row.
func.func @written(%a: memref<21x24xf16>, %b: memref<24x19xf16>, %x: memref<21xf32>, %c: memref<21xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<21x24xf16>, memref<24x19xf16>) init(%zero : f32)
      extras(%x : memref<21xf32>) outs(%c : memref<21xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m)>,
            affine_map<(m, n, k) -> (m)>] accumulate f32 {
  ^bb0(%acc: f32, %extra: f32):
    %min = tessera.row_reduce min %acc : f32
    %above = arith.subf %acc, %min : f32
    %sum = tessera.row_reduce add %above : f32
    %y = arith.addf %sum, %extra : f32
    tessera.yield %y : f32
  }
  return
}
