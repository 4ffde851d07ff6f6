// Block loads of Intel's matrix operands (SPV_INTEL_2d_block_io). In the dialect
// one is a call of an imported function, whose name holds the opcode that it
// becomes: 6231 loads rows, 6232 packs what they have below each other, 6233
// turns them, and 6234 prefetches.
//
// RUN: gpu-runner %s --entry=half --target=opencl:pvc --emit=llvm --allow-tf32 -o %t.pvc
// RUN: FileCheck %s --check-prefix=DECLARED --input-file=%t.pvc
// RUN: FileCheck %s --check-prefix=HALF --input-file=%t.pvc
// RUN: FileCheck %s --check-prefix=COLUMNS --input-file=%t.pvc
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.pvc
// RUN: FileCheck %s --check-prefix=SINGLE --input-file=%t.pvc
// RUN: FileCheck %s --check-prefix=BATCH --input-file=%t.pvc
// RUN: gpu-runner %s --entry=half --target=opencl:bmg --emit=llvm --allow-tf32 -o %t.bmg
// RUN: sed s/"bmg"/"pvc"/ %t.bmg | diff %t.pvc -
//
// Xe-HPG has none.
// RUN: gpu-runner %s --entry=half --target=opencl:dg2 --emit=llvm --explain 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW-NOT: {{block loads|__tessera_subgroup_blocks}}
// NARROW: stages = 1
// NARROW-NOT: {{block loads|__tessera_subgroup_blocks}}
//
// The same schedules compute the right numbers, lane by lane.
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=pvc --verify
// RUN: gpu-runner %s --entry=columns --target=cpu:emulate=bmg --verify
// RUN: gpu-runner %s --entry=bytes --target=cpu:emulate=pvc --verify
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=bmg --verify --allow-tf32
// RUN: gpu-runner %s --entry=batch --target=cpu:emulate=pvc --verify

// The imported functions, of an array of 16 bits and of one of 32.
// DECLARED: spirv.func @__tessera_subgroup_blocks.6231.i16.i16(i32, i32, i32, i32, !spirv.ptr<i16, CrossWorkgroup>, i32, i32, i32, vector<2xi32>, !spirv.ptr<i16, Function>) "None" attributes {{.*}}linkage_type = <Import>
// Both buffers begin at a multiple of 64 bytes. Rows of a are 144 bytes long,
// and there are 100: no test for the edges of either.
// HALF-LABEL: spirv.func @half_kernel
// HALF-NOT: tessera.registers
// HALF-SAME: tessera.parameter_alignments = array<i64: 64, 64, 0>
// HALF-DAG: %[[TWO:.*]] = spirv.Constant 2 : i32
// HALF-DAG: %[[SIXTEEN:.*]] = spirv.Constant 16 : i32
// HALF-DAG: %[[THIRTYTWO:.*]] = spirv.Constant 32 : i32
// HALF-DAG: %[[WIDTH:.*]] = spirv.Constant 144 : i32
// HALF-DAG: %[[HEIGHT:.*]] = spirv.Constant 100 : i32
// HALF-DAG: %[[K:.*]] = spirv.Constant 72 : i32
// HALF-DAG: %[[N:.*]] = spirv.Constant 272 : i32
// HALF-DAG: spirv.Variable : !spirv.ptr<!spirv.array<32 x i16>, Function>
// HALF-DAG: spirv.Variable : !spirv.ptr<!spirv.array<32 x i32>, Function>
// HALF-NOT: spirv.Load "CrossWorkgroup"
// The block of the iteration after next, 64 columns further, is prefetched.
// HALF: %[[LATER:.*]] = spirv.IAdd %[[TURN:.*]], %{{cst2_i64.*}} : i64
// HALF: %[[LATERK:.*]] = spirv.IMul %[[LATER]], %{{cst32_i64.*}} : i64
// HALF: %[[LATERX:.*]] = spirv.SConvert %[[LATERK]] : i64 to i32
// HALF: %[[COORDINATE:.*]] = spirv.CompositeConstruct %[[LATERX]], %[[Y:.*]] : (i32, i32) -> vector<2xi32>
// HALF: spirv.FunctionCall @__tessera_subgroup_blocks.6234.i16(%[[TWO]], %[[SIXTEEN]], %[[SIXTEEN]], %[[TWO]], %[[A:.*]], %[[WIDTH]], %[[HEIGHT]], %[[WIDTH]], %[[COORDINATE]])
// Two blocks of 16 columns: 16 rows of a, 32 of b. Blocks follow each other, and
// in a block tiles do.
// HALF: %[[COORDINATE:.*]] = spirv.CompositeConstruct %[[X:.*]], %[[Y]] : (i32, i32) -> vector<2xi32>
// HALF: spirv.FunctionCall @__tessera_subgroup_blocks.6231.i16.i16(%[[TWO]], %[[SIXTEEN]], %[[SIXTEEN]], %[[TWO]], %[[A]], %[[WIDTH]], %[[HEIGHT]], %[[WIDTH]], %[[COORDINATE]], %{{[^,]*}})
// HALF-NEXT: %[[A00:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 2] : vector<8xi16>
// HALF-NEXT: %[[A10:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 2] : vector<8xi16>
// HALF-NEXT: %[[A01:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 2] : vector<8xi16>
// HALF-NEXT: %[[A11:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 2] : vector<8xi16>
// HALF: spirv.FunctionCall @__tessera_subgroup_blocks.6234.i16(%[[TWO]], %[[SIXTEEN]], %[[THIRTYTWO]], %[[TWO]], %[[B:.*]], %[[N]], %[[K]], %[[N]], %{{[^,]*}})
// HALF: %[[COORDINATE:.*]] = spirv.CompositeConstruct %{{.*}}, %[[X]] : (i32, i32) -> vector<2xi32>
// HALF: spirv.FunctionCall @__tessera_subgroup_blocks.6232.i16.i32(%[[TWO]], %[[SIXTEEN]], %[[THIRTYTWO]], %[[TWO]], %[[B]], %[[N]], %[[K]], %[[N]], %[[COORDINATE]], %{{[^,]*}})
// HALF-NEXT: %[[B00:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 4] : vector<8xi32>
// HALF-NEXT: %[[B10:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 4] : vector<8xi32>
// HALF-NEXT: %[[B01:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 4] : vector<8xi32>
// HALF-NEXT: %[[B11:.*]] = spirv.Load "Function" %{{.*}} ["Aligned", 4] : vector<8xi32>
// HALF: %[[C00:.*]] = spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A00]], %[[B00]], %{{.*}})
// HALF: %[[C01:.*]] = spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A00]], %[[B01]], %{{.*}})
// HALF: %[[C10:.*]] = spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A10]], %[[B00]], %{{.*}})
// HALF: %[[C11:.*]] = spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A10]], %[[B01]], %{{.*}})
// HALF: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A01]], %[[B10]], %[[C00]])
// HALF: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A01]], %[[B11]], %[[C01]])
// HALF: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A11]], %[[B10]], %[[C10]])
// HALF: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(%[[SIXTEEN]], %[[A11]], %[[B11]], %[[C11]])
func.func @half(%a: tensor<100x72xf16>, %b: tensor<72x136xf16>) -> tensor<100x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x136xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<100x136xf32>) -> tensor<100x136xf32>
  %r = linalg.matmul ins(%a, %b : tensor<100x72xf16>, tensor<72x136xf16>) outs(%i : tensor<100x136xf32>) -> tensor<100x136xf32>
  return %r : tensor<100x136xf32>
}

// b column-major: 16 of its rows of memory, in each of which 8 words are columns.
// COLUMNS-LABEL: spirv.func @columns_kernel
// COLUMNS-DAG: %[[FOUR:.*]] = spirv.Constant 4 : i32
// COLUMNS-DAG: %[[EIGHT:.*]] = spirv.Constant 8 : i32
// COLUMNS-DAG: %[[SIXTEEN:.*]] = spirv.Constant 16 : i32
// COLUMNS-DAG: %[[ONE:.*]] = spirv.Constant 1 : i32
// COLUMNS: spirv.FunctionCall @__tessera_subgroup_blocks.6233.i32.i32(%[[FOUR]], %[[EIGHT]], %[[SIXTEEN]], %[[ONE]],
func.func @columns(%a: tensor<100x72xf16>, %b: tensor<136x72xf16>) -> tensor<100x136xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x136xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<100x136xf32>) -> tensor<100x136xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(n,k)>, affine_map<(m,n,k)->(m,n)>]
      ins(%a, %b : tensor<100x72xf16>, tensor<136x72xf16>) outs(%i : tensor<100x136xf32>) -> tensor<100x136xf32>
  return %r : tensor<100x136xf32>
}

// Rows of 32 bytes, two in a lane.
// BYTES-LABEL: spirv.func @bytes_kernel
// BYTES: spirv.Variable : !spirv.ptr<!spirv.array<32 x i16>, Function>
// BYTES: spirv.FunctionCall @__tessera_subgroup_blocks.6231.i8.i8
// BYTES: spirv.FunctionCall @__tessera_subgroup_blocks.6232.i8.i32
func.func @bytes(%a: tensor<100x80xi8>, %b: tensor<80x144xi8>) -> tensor<100x144xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<100x144xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<100x144xi32>) -> tensor<100x144xi32>
  %r = linalg.matmul ins(%a, %b : tensor<100x80xi8>, tensor<80x144xi8>) outs(%i : tensor<100x144xi32>) -> tensor<100x144xi32>
  return %r : tensor<100x144xi32>
}

// For f32, b does not need packing.
// SINGLE-LABEL: spirv.func @single_kernel
// SINGLE-NOT: __tessera_subgroup_blocks.623{{[23]}}
// SINGLE-COUNT-3: spirv.FunctionCall @__tessera_subgroup_blocks.6231.i32.i32
// SINGLE-NOT: __tessera_subgroup_blocks.623{{[23]}}
// SINGLE: spirv.EntryPoint "Kernel" @single_kernel
func.func @single(%a: tensor<100x36xf32>, %b: tensor<36x68xf32>) -> tensor<100x68xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x68xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<100x68xf32>) -> tensor<100x68xf32>
  %r = linalg.matmul ins(%a, %b : tensor<100x36xf32>, tensor<36x68xf32>) outs(%i : tensor<100x68xf32>) -> tensor<100x68xf32>
  return %r : tensor<100x68xf32>
}

// Each matrix starts at its aligned address, by its index. The kernel needs
// more than three quarters of 128 registers: 32x64 sums alone need that many.
// The decoration for this requires SPIR-V 1.4.
// BATCH: requires #spirv.vce<v1.4
// BATCH-LABEL: spirv.func @batch_kernel
// BATCH-SAME: tessera.registers = 256
// BATCH-DAG: %[[ELEMENTS:.*]] = spirv.Constant 4096 : i64
// BATCH: %[[FIRST:.*]] = spirv.IMul %{{.*}}, %[[ELEMENTS]] : i64
// BATCH: %[[OFFSET:.*]] = spirv.IMul %[[FIRST]], %{{cst2_i64.*}} : i64
// BATCH: spirv.PtrAccessChain %arg0[%[[OFFSET]]]
// BATCH: spirv.FunctionCall @__tessera_subgroup_blocks.6231.i16.i16
func.func @batch(%a: tensor<3x64x64xf16>, %b: tensor<3x64x64xf16>) -> tensor<3x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x64x64xf32>) -> tensor<3x64x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x64x64xf16>, tensor<3x64x64xf16>) outs(%i : tensor<3x64x64xf32>) -> tensor<3x64x64xf32>
  return %r : tensor<3x64x64xf32>
}
