// RUN: gpu-opt %s --split-input-file --verify-diagnostics

// Each discardable attribute of the dialect on a wrong op (attribute_c1) and with a wrong value
// (attribute_c2), and attributes that the dialect does not have (attribute_c3).

// expected-error @+1 {{attribute_c1: 'tessera.schedule' must be on a linalg op, a gpu.launch or a function}}
module attributes {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32>} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.schedule_origin' must be on a tessera.contract, a tessera.attention, a linalg op or a gpu.launch}}
func.func private @f() attributes {tessera.schedule_origin = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.schedule_prediction' must be on a tessera.contract, a tessera.attention or a gpu.launch}}
func.func private @f() attributes {tessera.schedule_prediction = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.window_schedule' must be on a linalg op, an scf.for or a gpu.launch}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 1, rows = 1, threads = 1>}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.allow_tf32' must be on a linalg op}}
func.func private @f() attributes {tessera.allow_tf32}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.allow_fast_f8' must be on a linalg op}}
func.func private @f() attributes {tessera.allow_fast_f8}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.packing' must be on a linalg op, a memref.copy or a gpu.launch}}
func.func private @f() attributes {tessera.packing = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.purpose' must be on a gpu.launch}}
func.func private @f() attributes {tessera.purpose = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.plain_matmul' must be on a gpu.launch}}
func.func private @f() attributes {tessera.plain_matmul = #tessera.plain_matmul<1x2x?, f32 x f32 -> f32, "x">}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.tuned' must be on a module}}
func.func private @f() attributes {tessera.tuned = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.tuned_source' must be on a module}}
func.func private @f() attributes {tessera.tuned_source = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.schedules' must be on a module}}
func.func private @f() attributes {tessera.schedules = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.schedule_origins' must be on a module}}
func.func private @f() attributes {tessera.schedule_origins = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.schedule_predictions' must be on a module}}
func.func private @f() attributes {tessera.schedule_predictions = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.plain_matmuls' must be on a module}}
func.func private @f() attributes {tessera.plain_matmuls = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.packings' must be on a module}}
func.func private @f() attributes {tessera.packings = {}}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.bulk' must be on a tessera.copy}}
func.func private @f() attributes {tessera.bulk = true}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.copy_threads' must be on a tessera.copy}}
func.func private @f() attributes {tessera.copy_threads = 1 : i64}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.alignment' must be on a load, store, broadcast or copy of the dialect}}
func.func private @f() attributes {tessera.alignment = 16 : i64}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.uniform' must be on a tessera.copy or a tessera.async_copy}}
func.func private @f() attributes {tessera.uniform}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.whole_bytes' must be on a tessera.copy or a tessera.async_copy}}
func.func private @f() attributes {tessera.whole_bytes}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.k_packed' must be on an op with a memref operand}}
func.func private @f() attributes {tessera.k_packed = array<i64: 2, 4>}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.lds_width' must be on a tessera.async_copy}}
func.func private @f() attributes {tessera.lds_width = 1 : i64}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.lds_loads' must be on a tessera.wait}}
func.func private @f() attributes {tessera.lds_loads = 0 : i64}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.block_load' must be on a tessera.load}}
func.func private @f() attributes {tessera.block_load}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.instruction' must be on a tessera.mma}}
func.func private @f() attributes {tessera.instruction = "x"}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.widened' must be on a tessera.mma}}
func.func private @f() attributes {tessera.widened}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.transposed_a' must be on a tessera.mma}}
func.func private @f() attributes {tessera.transposed_a}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.transposed_b' must be on a tessera.mma}}
func.func private @f() attributes {tessera.transposed_b}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.overlapped' must be on a tessera.mma}}
func.func private @f() attributes {tessera.overlapped}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.in_flight' must be on a tessera.mma}}
func.func private @f() attributes {tessera.in_flight}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.issuer' must be on an scf.if}}
func.func private @f() attributes {tessera.issuer}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.step_await' must be on an scf.execute_region}}
func.func private @f() attributes {tessera.step_await}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.context' must be on a builtin.unrealized_conversion_cast}}
func.func private @f() attributes {tessera.context}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.field' must be on a builtin.unrealized_conversion_cast}}
func.func private @f() attributes {tessera.field = 0 : i64}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.group' must be on a function}}
module attributes {tessera.group = 4 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.stages' must be on a function}}
module attributes {tessera.stages = 2 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.cluster' must be on a function}}
module attributes {tessera.cluster = 2 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.sharers' must be on a function}}
module attributes {tessera.sharers = array<i64: 2, 1>} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.copies' must be on a function}}
module attributes {tessera.copies = "x"} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.registers' must be on a function}}
module attributes {tessera.registers = 256 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.parameter_alignments' must be on a function}}
module attributes {tessera.parameter_alignments = array<i64: 0>} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.kernel' must be on a function}}
module attributes {tessera.kernel} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.workgroup_bytes' must be on a function or a gpu.launch_func}}
module attributes {tessera.workgroup_bytes = 0 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.tensor_maps' must be on a function or a gpu.launch_func}}
module attributes {tessera.tensor_maps = []} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.producer_threads' must be on a function or a gpu.launch_func}}
module attributes {tessera.producer_threads = 32 : i64} {
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.taken_arguments' must be on a function or a gpu.launch_func}}
module attributes {tessera.taken_arguments = array<i64: 0>} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.group' must be a positive integer}}
func.func private @f() attributes {tessera.group = 0 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.stages' must be a positive integer}}
func.func private @f() attributes {tessera.stages = -1 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.cluster' must be a positive integer}}
func.func private @f() attributes {tessera.cluster = "2"}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.sharers' must be an array<i64> of two positive entries}}
func.func private @f() attributes {tessera.sharers = array<i64: 2>}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.workgroup_bytes' must be an integer that is not negative}}
func.func private @f() attributes {tessera.workgroup_bytes = -1 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.copies' must be a string}}
func.func private @f() attributes {tessera.copies = 1 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.producer_threads' must be a positive integer}}
func.func private @f() attributes {tessera.producer_threads = 0 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.taken_arguments' must be an array<i64> without negative entries}}
func.func private @f() attributes {tessera.taken_arguments = array<i64: -1>}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.registers' must be a positive integer}}
func.func private @f() attributes {tessera.registers = true}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.parameter_alignments' must be an array<i64> without negative entries}}
func.func private @f() attributes {tessera.parameter_alignments = array<i32: 1>}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.kernel' must be a unit}}
func.func private @f() attributes {tessera.kernel = 1 : i64}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.schedule' must be a #tessera.schedule}}
func.func private @f() attributes {tessera.schedule = "x"}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [3]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [{argument = 0 : i64}]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 8>, swizzle = 48 : i64}]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 0>, swizzle = 64 : i64}]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 8>, swizzle = 64 : i64, symbol = "x"}]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tensor_maps' must be an array of tensor maps}}
func.func private @f() attributes {tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 8>, swizzle = 64 : i64, other}]}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tuned' must be a dictionary of dictionaries}}
module attributes {tessera.tuned = {k = {schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32>}}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tuned' must be a dictionary of dictionaries}}
module attributes {tessera.tuned = {k = {origin = "x", schedule = 1}}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.tuned_source' must be a string}}
module attributes {tessera.tuned_source = 1} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.schedules' must be a dictionary of #tessera.schedule and #tessera.window_schedule}}
module attributes {tessera.schedules = {k = "x"}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.schedule_origins' must be a dictionary of strings}}
module attributes {tessera.schedule_origins = {k = 1}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.schedule_predictions' must be a dictionary of strings}}
module attributes {tessera.schedule_predictions = {k = 1}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.plain_matmuls' must be a dictionary of #tessera.plain_matmul}}
module attributes {tessera.plain_matmuls = {k = "1x2x3 f32 x f32 -> f32"}} {
}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.packings' must be a dictionary of strings}}
module attributes {tessera.packings = "x"} {
}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c2: 'tessera.window_schedule' must be a #tessera.window_schedule, but is}}
  linalg.fill {tessera.window_schedule = 1} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

// expected-error @+1 {{window_schedule_c1: rows must be at least 1, not 0}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 1, rows = 0, threads = 64>}

// -----

// expected-error @+1 {{window_schedule_c2: points must be a power of two, not 6}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 6, rows = 1, threads = 64>}

// -----

// expected-error @+1 {{window_schedule_c1: lines must be at least 1, not 0}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 1, rows = 1, lines = 0, threads = 64>}

// -----

// expected-error @+1 {{window_schedule_c2: points (8) times rows (8) times lines (8) must be at most 256}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 8, lines = 8, threads = 64>}

// -----

// expected-error @+1 {{window_schedule_c2: points (64) times rows (8) must be at most 256}}
func.func private @f() attributes {tessera.window_schedule = #tessera.window_schedule<points = 64, rows = 8, threads = 64>}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c2: 'tessera.allow_tf32' must be a unit, but is}}
  linalg.fill {tessera.allow_tf32 = true} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c2: 'tessera.allow_fast_f8' must be a unit, but is}}
  linalg.fill {tessera.allow_fast_f8 = 1} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c2: 'tessera.packing' must be a string, but is}}
  linalg.fill {tessera.packing = 1} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c2: 'tessera.k_packed' must be an array<i64> of two positive entries, but is}}
  linalg.fill {tessera.k_packed = array<i64: 0, 4>} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{attribute_c2: 'tessera.schedule_origin' must be a string, but is}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  } {tessera.schedule_origin = 1}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{attribute_c2: 'tessera.purpose' must be a string, but is}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  } {tessera.purpose = 1}
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{attribute_c2: 'tessera.plain_matmul' must be a #tessera.plain_matmul, but is}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  } {tessera.plain_matmul = {product = "x"}}
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.bulk' must be a bool, but is}}
  tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.bulk = 1 : i64}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.copy_threads' must be a positive integer, but is}}
  tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.copy_threads = 0 : i64}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.alignment' must be an integer that is not negative, but is}}
  tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.alignment = -1 : i64}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.uniform' must be a unit, but is}}
  tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.uniform = true}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.whole_bytes' must be a unit, but is}}
  tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.whole_bytes = true}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @f(%a: memref<16x16xf32>, %w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.lds_width' must be a positive integer, but is}}
  %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0] shape [16, 16] {tessera.lds_width = 0 : i64}
      : memref<16x16xf32>, memref<16x16xf32, #gpu.address_space<workgroup>>
  tessera.wait for %t
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{attribute_c2: 'tessera.lds_loads' must be an integer that is not negative, but is}}
  tessera.wait pending 1 {tessera.lds_loads = -1 : i64}
  return
}

// -----

func.func @f(%a: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute_c2: 'tessera.block_load' must be a unit, but is}}
  %0 = tessera.load %a[%c0, %c0] {tessera.block_load = 1 : i64} : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.instruction' must be a string that is not empty, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.instruction = ""} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.widened' must be a unit, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.widened = true} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.transposed_a' must be a unit, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.transposed_a = true} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.transposed_b' must be a unit, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.transposed_b = true} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.overlapped' must be a unit, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.overlapped = true} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>, %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute_c2: 'tessera.in_flight' must be a unit, but is}}
  %0 = tessera.mma %a, %b, %c {tessera.in_flight = true} : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @f(%x: i1) {
  // expected-error @+1 {{attribute_c2: 'tessera.issuer' must be a unit, but is}}
  scf.if %x {
  } {tessera.issuer = true}
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{attribute_c2: 'tessera.step_await' must be a unit, but is}}
  "scf.execute_region"() ({
    scf.yield
  }) {tessera.step_await = true} : () -> ()
  return
}

// -----

func.func @f(%x: index) {
  // expected-error @+1 {{attribute_c2: 'tessera.context' must be a unit, but is}}
  %0 = builtin.unrealized_conversion_cast %x : index to i64 {tessera.context = true}
  return
}

// -----

func.func @f(%x: index) {
  // expected-error @+1 {{attribute_c2: 'tessera.field' must be an integer that is not negative, but is}}
  %0 = builtin.unrealized_conversion_cast %x : index to i64 {tessera.field = -1 : i64}
  return
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.alignment' must be on a memref argument of a function}}
func.func private @f(i32 {tessera.alignment = 64 : i32})

// -----

// expected-error @+1 {{attribute_c2: 'tessera.alignment' of argument 0 must be a positive integer, but is 0}}
func.func private @f(memref<4xf32> {tessera.alignment = 0 : i32})

// -----

// expected-error @+1 {{attribute_c3: 'tessera.group' is not an attribute of arguments}}
func.func private @f(memref<4xf32> {tessera.group = 4 : i64})

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{attribute_c3: 'tessera.schedul' is not an attribute of the dialect}}
  linalg.fill {tessera.schedul = 1} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

func.func @f(%x: f32, %a: memref<4xf32>) {
  // expected-error @+1 {{plain_matmul_c1: 2 extents; expected M, N and K}}
  linalg.fill {a = #tessera.plain_matmul<1x2, f32 x f32 -> f32, "x">} ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

// -----

// expected-error @+1 {{attribute_c1: 'tessera.chip' must be on a module or a gpu.module}}
func.func private @f() attributes {tessera.chip = #tessera.chip<"cuda", "sm_90a">}

// -----

// expected-error @+1 {{attribute_c2: 'tessera.chip' must be a #tessera.chip, but is}}
module attributes {tessera.chip = "sm_90a"} {
}
