// All ops that are not matmuls of fragments, computed and compared element by
// element; and compiled for a GPU.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// PTX: .target sm_80
// PTX: shfl.sync.bfly

// Matmuls of one row or one column.
// RUN: gpu-runner %s --target=cpu --verify --entry=matvec | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=matvec --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=vecmat | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=vecmat_i8 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batch_matvec --arg=int:3x37x65 --arg=int:3x65 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=column --arg=random --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dot --arg=int:100003x --arg=int:100003x | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dot --arg=int:0x --arg=int:0x | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=mixed_signs --arg=int:504 --arg=int:201 | FileCheck %s

// Reductions.
// RUN: gpu-runner %s --target=cpu --verify --entry=sum_all --arg=random:1031x517 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=sum_rows --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=sum_few_columns --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=sum_f64 --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=max_middle | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=sum_and_max | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=any_bits | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=argmax | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=weighted_by_index | FileCheck %s

// Windows.
// RUN: gpu-runner %s --target=cpu --verify --entry=depthwise --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pool_max_nchw | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pool_sum_nhwc | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pool_min_nhwc | FileCheck %s

// Moves.
// RUN: gpu-runner %s --target=cpu --verify --entry=transpose --arg=int:37x70x3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pad | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=slices | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pack | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax --arg=random:33x1001 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=concat | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=gather | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bools | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=nothing --arg=int:0x7 | FileCheck %s

// Element by element.
// RUN: gpu-runner %s --target=cpu --verify --entry=elementwise --arg=random:1000003x --arg=random:1000003x | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bias --arg=random:19x53 --arg=random:53x | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=scalar --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=coordinates | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=mapped --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=views --arg=random | FileCheck %s
// CHECK: {{^}}verified

func.func @matvec(%a: tensor<301x1027xf32>, %x: tensor<1027xf32>) -> tensor<301xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<301xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<301xf32>) -> tensor<301xf32>
  %r = linalg.matvec ins(%a, %x : tensor<301x1027xf32>, tensor<1027xf32>) outs(%f : tensor<301xf32>) -> tensor<301xf32>
  return %r : tensor<301xf32>
}

func.func @vecmat(%x: tensor<520xf16>, %a: tensor<520x203xf16>, %c: tensor<203xf32>) -> tensor<203xf32> {
  %r = linalg.vecmat ins(%x, %a : tensor<520xf16>, tensor<520x203xf16>) outs(%c : tensor<203xf32>) -> tensor<203xf32>
  return %r : tensor<203xf32>
}

func.func @vecmat_i8(%x: tensor<4096xi8>, %a: tensor<4096x64xi8>, %c: tensor<64xi32>) -> tensor<64xi32> {
  %r = linalg.vecmat ins(%x, %a : tensor<4096xi8>, tensor<4096x64xi8>) outs(%c : tensor<64xi32>) -> tensor<64xi32>
  return %r : tensor<64xi32>
}

func.func @batch_matvec(%a: tensor<3x?x65xf32>, %x: tensor<3x65xf32>) -> tensor<3x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c1 : tensor<3x?x65xf32>
  %e = tensor.empty(%m) : tensor<3x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  %r = linalg.batch_matvec ins(%a, %x : tensor<3x?x65xf32>, tensor<3x65xf32>) outs(%f : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// One column, followed by a bias and relu.
func.func @column(%a: tensor<128x256xbf16>, %x: tensor<256x1xbf16>, %b: tensor<128x1xf32>) -> tensor<128x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x1xf32>) -> tensor<128x1xf32>
  %p = linalg.matmul ins(%a, %x : tensor<128x256xbf16>, tensor<256x1xbf16>) outs(%f : tensor<128x1xf32>) -> tensor<128x1xf32>
  %s = linalg.add ins(%p, %b : tensor<128x1xf32>, tensor<128x1xf32>) outs(%e : tensor<128x1xf32>) -> tensor<128x1xf32>
  %r = linalg.max ins(%s, %f : tensor<128x1xf32>, tensor<128x1xf32>) outs(%e : tensor<128x1xf32>) -> tensor<128x1xf32>
  return %r : tensor<128x1xf32>
}

func.func @dot(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @sum_all(%a: tensor<?x?xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce {arith.addf} ins(%a : tensor<?x?xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

func.func @sum_rows(%a: tensor<61x4099xf32>, %init: tensor<61xf32>) -> tensor<61xf32> {
  %r = linalg.reduce {arith.addf} ins(%a : tensor<61x4099xf32>) outs(%init : tensor<61xf32>) dimensions = [1]
  return %r : tensor<61xf32>
}

func.func @sum_few_columns(%a: tensor<70001x12xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.reduce {arith.addf} ins(%a : tensor<70001x12xf32>) outs(%f : tensor<12xf32>) dimensions = [0]
  return %r : tensor<12xf32>
}

func.func @max_middle(%a: tensor<5x130x77xi16>) -> tensor<5x77xi16> {
  %low = arith.constant -32768 : i16
  %e = tensor.empty() : tensor<5x77xi16>
  %f = linalg.fill ins(%low : i16) outs(%e : tensor<5x77xi16>) -> tensor<5x77xi16>
  %r = linalg.reduce {arith.maxsi} ins(%a : tensor<5x130x77xi16>) outs(%f : tensor<5x77xi16>) dimensions = [1]
  return %r : tensor<5x77xi16>
}

// Two results of one reduction, of f64: a shuffle of 64 bits.
func.func @sum_and_max(%a: tensor<7x3000xf64>) -> (tensor<7xf64>, tensor<7xf64>) {
  %zero = arith.constant 0.0 : f64
  %low = arith.constant -1.0e30 : f64
  %e = tensor.empty() : tensor<7xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<7xf64>) -> tensor<7xf64>
  %g = linalg.fill ins(%low : f64) outs(%e : tensor<7xf64>) -> tensor<7xf64>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                          affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<7x3000xf64>) outs(%f, %g : tensor<7xf64>, tensor<7xf64>) {
  ^bb0(%x: f64, %acc: f64, %max: f64):
    %s = arith.addf %acc, %x : f64
    %m = arith.maximumf %max, %x : f64
    linalg.yield %s, %m : f64, f64
  } -> (tensor<7xf64>, tensor<7xf64>)
  return %r#0, %r#1 : tensor<7xf64>, tensor<7xf64>
}

func.func @any_bits(%a: tensor<50x200xi8>) -> tensor<50xi8> {
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<50xi8>
  %f = linalg.fill ins(%zero : i8) outs(%e : tensor<50xi8>) -> tensor<50xi8>
  %r = linalg.reduce {arith.ori} ins(%a : tensor<50x200xi8>) outs(%f : tensor<50xi8>) dimensions = [1]
  return %r : tensor<50xi8>
}

// A combiner of two values that is not a known reduction.
func.func @argmax(%a: tensor<20x333xf32>) -> (tensor<20xf32>, tensor<20xi32>) {
  %low = arith.constant -1.0e30 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<20xf32>
  %ei = tensor.empty() : tensor<20xi32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<20xf32>) -> tensor<20xf32>
  %fi = linalg.fill ins(%zero : i32) outs(%ei : tensor<20xi32>) -> tensor<20xi32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                          affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<20x333xf32>) outs(%f, %fi : tensor<20xf32>, tensor<20xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %ji = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %x, %best : f32
    %v = arith.select %more, %x, %best : f32
    %i = arith.select %more, %ji, %at : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<20xf32>, tensor<20xi32>)
  return %r#0, %r#1 : tensor<20xf32>, tensor<20xi32>
}

func.func @weighted_by_index(%a: tensor<9x261xi32>) -> tensor<9xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<9xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<9xi32>) -> tensor<9xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<9x261xi32>) outs(%f : tensor<9xi32>) {
  ^bb0(%x: i32, %acc: i32):
    %j = linalg.index 1 : index
    %i = linalg.index 0 : index
    %n = arith.addi %i, %j : index
    %w = arith.index_cast %n : index to i32
    %p = arith.muli %x, %w : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<9xi32>
  return %r : tensor<9xi32>
}

func.func @softmax(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @depthwise(%a: tensor<2x19x23x36xf32>, %w: tensor<3x3x36xf32>) -> tensor<2x9x11x36xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x9x11x36xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x9x11x36xf32>) -> tensor<2x9x11x36xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%a, %w : tensor<2x19x23x36xf32>, tensor<3x3x36xf32>) outs(%f : tensor<2x9x11x36xf32>) -> tensor<2x9x11x36xf32>
  return %r : tensor<2x9x11x36xf32>
}

func.func @pool_max_nchw(%a: tensor<2x5x20x37xf32>) -> tensor<2x5x18x35xf32> {
  %low = arith.constant -1.0e30 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x5x18x35xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<2x5x18x35xf32>) -> tensor<2x5x18x35xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %w : tensor<2x5x20x37xf32>, tensor<3x3xf32>) outs(%f : tensor<2x5x18x35xf32>) -> tensor<2x5x18x35xf32>
  return %r : tensor<2x5x18x35xf32>
}

func.func @pool_sum_nhwc(%a: tensor<1x16x16x24xf16>) -> tensor<1x8x8x24xf16> {
  %zero = arith.constant 0.0 : f16
  %w = tensor.empty() : tensor<2x2xf16>
  %e = tensor.empty() : tensor<1x8x8x24xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x8x8x24xf16>) -> tensor<1x8x8x24xf16>
  %r = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%a, %w : tensor<1x16x16x24xf16>, tensor<2x2xf16>) outs(%f : tensor<1x8x8x24xf16>) -> tensor<1x8x8x24xf16>
  return %r : tensor<1x8x8x24xf16>
}

func.func @pool_min_nhwc(%a: tensor<1x16x16x3xf32>) -> tensor<1x14x14x3xf32> {
  %high = arith.constant 1.0e30 : f32
  %w = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x14x14x3xf32>
  %f = linalg.fill ins(%high : f32) outs(%e : tensor<1x14x14x3xf32>) -> tensor<1x14x14x3xf32>
  %r = linalg.pooling_nhwc_min {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%a, %w : tensor<1x16x16x3xf32>, tensor<3x3xf32>) outs(%f : tensor<1x14x14x3xf32>) -> tensor<1x14x14x3xf32>
  return %r : tensor<1x14x14x3xf32>
}

func.func @transpose(%a: tensor<?x70x3xf32>) -> tensor<3x?x70xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x70x3xf32>
  %e = tensor.empty(%n) : tensor<3x?x70xf32>
  %r = linalg.transpose ins(%a : tensor<?x70x3xf32>) outs(%e : tensor<3x?x70xf32>) permutation = [2, 0, 1]
  return %r : tensor<3x?x70xf32>
}

func.func @pad(%a: tensor<13x20xf32>) -> tensor<16x27xf32> {
  %x = arith.constant 7.0 : f32
  %r = tensor.pad %a low[1, 4] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<13x20xf32> to tensor<16x27xf32>
  return %r : tensor<16x27xf32>
}

func.func @slices(%a: tensor<40x50xf32>, %b: tensor<40x50xf32>) -> tensor<40x50xf32> {
  %s = tensor.extract_slice %a[3, 5] [10, 20] [2, 2] : tensor<40x50xf32> to tensor<10x20xf32>
  %r = tensor.insert_slice %s into %b[30, 10] [10, 20] [1, 1] : tensor<10x20xf32> into tensor<40x50xf32>
  return %r : tensor<40x50xf32>
}

func.func @concat(%a: tensor<4x10xf32>, %b: tensor<4x7xf32>) -> tensor<4x17xf32> {
  %r = tensor.concat dim(1) %a, %b : (tensor<4x10xf32>, tensor<4x7xf32>) -> tensor<4x17xf32>
  return %r : tensor<4x17xf32>
}

func.func @pack(%a: tensor<30x45xf32>) -> tensor<30x45xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6x8x8xf32>
  %p = linalg.pack %a padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e
      : tensor<30x45xf32> -> tensor<4x6x8x8xf32>
  %o = tensor.empty() : tensor<30x45xf32>
  %r = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %o
      : tensor<4x6x8x8xf32> -> tensor<30x45xf32>
  return %r : tensor<30x45xf32>
}

func.func @gather(%table: tensor<64x33xf32>, %indices: tensor<50xi32>) -> tensor<50x33xf32> {
  %e = tensor.empty() : tensor<50x33xf32>
  %c64 = arith.constant 64 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%indices : tensor<50xi32>) outs(%e : tensor<50x33xf32>) {
  ^bb0(%i: i32, %out: f32):
    %m = arith.remui %i, %c64 : i32
    %row = arith.index_cast %m : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%row, %j] : tensor<64x33xf32>
    linalg.yield %v : f32
  } -> tensor<50x33xf32>
  return %r : tensor<50x33xf32>
}

// A predicate in memory, one byte for each.
func.func @bools(%a: tensor<100xi32>, %b: tensor<100xi32>) -> tensor<100xi32> {
  %e = tensor.empty() : tensor<100xi1>
  %o = tensor.empty() : tensor<100xi32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a, %b : tensor<100xi32>, tensor<100xi32>) outs(%e : tensor<100xi1>) {
  ^bb0(%x: i32, %y: i32, %out: i1):
    %c = arith.cmpi slt, %x, %y : i32
    linalg.yield %c : i1
  } -> tensor<100xi1>
  %r = linalg.select ins(%p, %a, %b : tensor<100xi1>, tensor<100xi32>, tensor<100xi32>)
      outs(%o : tensor<100xi32>) -> tensor<100xi32>
  return %r : tensor<100xi32>
}

func.func @elementwise(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.mul ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.exp ins(%p : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

func.func @bias(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                        affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %s = arith.addf %x, %y : f32
    %v = arith.truncf %s : f32 to f16
    linalg.yield %v : f16
  } -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

func.func @scalar(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %r = linalg.sub ins(%a, %b : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

func.func @coordinates() -> tensor<17x30xi32> {
  %e = tensor.empty() : tensor<17x30xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<17x30xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c100 = arith.constant 100 : index
    %h = arith.muli %i, %c100 : index
    %s = arith.addi %h, %j : index
    %v = arith.index_cast %s : index to i32
    linalg.yield %v : i32
  } -> tensor<17x30xi32>
  return %r : tensor<17x30xi32>
}

func.func @mapped(%a: tensor<31x8xf32>) -> tensor<31x8xf32> {
  %e = tensor.empty() : tensor<31x8xf32>
  %r = linalg.map { math.absf } ins(%a : tensor<31x8xf32>) outs(%e : tensor<31x8xf32>)
  return %r : tensor<31x8xf32>
}

// Launches without points: the output does not change.
func.func @nothing(%a: memref<?x7xf32>, %b: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.reduce {arith.addf} ins(%a : memref<?x7xf32>) outs(%b : memref<7xf32>) dimensions = [0]
  linalg.fill ins(%zero : f32) outs(%a : memref<?x7xf32>)
  return
}

// Through a view whose rows are not aligned, into another.
func.func @views(%a: memref<33x67xf32>, %b: memref<40x80xf32>) {
  %x = memref.subview %a[1, 3] [20, 64] [1, 1] : memref<33x67xf32> to memref<20x64xf32, strided<[67, 1], offset: 70>>
  %y = memref.subview %b[2, 8] [20, 64] [1, 1] : memref<40x80xf32> to memref<20x64xf32, strided<[80, 1], offset: 168>>
  memref.copy %x, %y : memref<20x64xf32, strided<[67, 1], offset: 70>> to memref<20x64xf32, strided<[80, 1], offset: 168>>
  return
}

// Sums of i8 times unsigned i8 (LLVM's pattern for VNNI).
func.func @mixed_signs(%a: tensor<64xi8>, %b: tensor<64xi8>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %b : tensor<64xi8>, tensor<64xi8>) outs(%i : tensor<i32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extui %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %s, %p : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// In double precision too, the order of a sum decides on its last bits.
func.func @sum_f64(%a: tensor<152x64xf64>) -> tensor<f64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<f64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<152x64xf64>) outs(%i : tensor<f64>) dimensions = [0, 1]
  return %r : tensor<f64>
}
