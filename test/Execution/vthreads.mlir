// Ops in and around virtual threads, in each order of interleaving: grids of
// one to three dimensions, nested, in and around loops and branches, with
// barriers, memory of their own, and asynchronous copies. Two subgroups execute
// each, so that a missing or duplicated barrier is detected.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --vthread-order=breadth_first | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --vthread-order=depth_first | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify '--vthread-order=groups(2)' | FileCheck %s
// CHECK-COUNT-8: out {{[0-7]}}: verified (max abs err 0
// CHECK: {{^}}verified

#space = #gpu.address_space<workgroup>

func.func @main(%x: memref<2x64xf32>, %f: memref<128x16xf16>,
                %nested: memref<2x2x3xf32>, %cube: memref<2x2x2x3xf32>,
                %loops: memref<2x4x8xf32>, %while: memref<2x4xf32>,
                %late: memref<2x3xf32>, %groups: memref<2x5xf32>,
                %scratch: memref<2x4xf32>, %copies: memref<64x16xf16>) {
  call @nested(%x, %nested) : (memref<2x64xf32>, memref<2x2x3xf32>) -> ()
  call @cube(%x, %cube) : (memref<2x64xf32>, memref<2x2x2x3xf32>) -> ()
  call @loops(%x, %loops) : (memref<2x64xf32>, memref<2x4x8xf32>) -> ()
  call @while(%x, %while) : (memref<2x64xf32>, memref<2x4xf32>) -> ()
  call @late(%x, %late) : (memref<2x64xf32>, memref<2x3xf32>) -> ()
  call @groups(%x, %groups) : (memref<2x64xf32>, memref<2x5xf32>) -> ()
  call @scratch(%x, %scratch) : (memref<2x64xf32>, memref<2x4xf32>) -> ()
  call @copies(%f, %copies) : (memref<128x16xf16>, memref<64x16xf16>) -> ()
  return
}

// Results of the inner ones are combined in the outer ones, and stored around.
func.func private @nested(%x: memref<2x64xf32>, %out: memref<2x2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %sg = gpu.subgroup_id : index
    %r:6 = tessera.vthread (%v) in (2) -> (f32, f32, f32, f32, f32, f32) {
      %base = memref.load %x[%sg, %v] : memref<2x64xf32>
      %inner:3 = tessera.vthread (%w) in (3) private(%p = [%base, %base, %base] : f32) order depth_first -> (f32, f32, f32) {
        %m = arith.muli %v, %c3 : index
        %at = arith.addi %m, %w : index
        %own = memref.load %x[%sg, %at] : memref<2x64xf32>
        %sum = arith.addf %own, %p : f32
        tessera.yield %sum : f32
      }
      %carry = arith.addf %inner#0, %inner#2 : f32
      %last:3 = tessera.vthread (%w) in (3) private(%p = [%inner#0, %inner#1, %inner#2] : f32) -> (f32, f32, f32) {
        %sum = arith.mulf %p, %carry : f32
        tessera.yield %sum : f32
      }
      tessera.yield %last#0, %last#1, %last#2 : f32, f32, f32
    }
    // Value by value: those of %last#0 come first.
    tessera.vthread (%v, %w) in (2, 3) private(%p = [%r#0, %r#2, %r#4, %r#1, %r#3, %r#5] : f32) {
      memref.store %p, %out[%sg, %v, %w] : memref<2x2x3xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func private @cube(%x: memref<2x64xf32>, %out: memref<2x2x2x3xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %sg = gpu.subgroup_id : index
    tessera.vthread (%u, %v, %w) in (2, 2, 3) order groups(5) {
      %at = affine.apply affine_map<(u, v, w) -> (u * 6 + v * 3 + w)>(%u, %v, %w)
      %value = memref.load %x[%sg, %at] : memref<2x64xf32>
      %i = arith.index_cast %at : index to i32
      %n = arith.sitofp %i : i32 to f32
      %sum = arith.addf %value, %n : f32
      memref.store %sum, %out[%sg, %u, %v, %w] : memref<2x2x2x3xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

// In a loop: one that all vthreads take alike, with a branch that only some do;
// one whose bounds depend on the vthread; one around a branch that all take.
func.func private @loops(%x: memref<2x64xf32>, %out: memref<2x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %sg = gpu.subgroup_id : index
    scf.for %k = %c0 to %c8 step %c1 {
      tessera.vthread (%v) in (4) {
        %sum:2 = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero, %count = %c0) -> (f32, index) {
          %value = memref.load %x[%sg, %i] : memref<2x64xf32>
          %odd = arith.cmpi ult, %v, %i : index
          %more = scf.if %odd -> f32 {
            %twice = arith.addf %value, %value : f32
            scf.yield %twice : f32
          } else {
            scf.yield %value : f32
          }
          %next = arith.addf %s, %more : f32
          %n = arith.addi %count, %c1 : index
          scf.yield %next, %n : f32, index
        }
        %own = scf.for %i = %v to %sum#1 step %c2 iter_args(%s = %sum#0) -> f32 {
          %value = memref.load %x[%sg, %i] : memref<2x64xf32>
          %next = arith.addf %s, %value : f32
          scf.yield %next : f32
        }
        %even = arith.cmpi ult, %k, %c2 : index
        %r = scf.if %even -> f32 {
          scf.yield %own : f32
        } else {
          %negative = arith.negf %own : f32
          scf.yield %negative : f32
        }
        memref.store %r, %out[%sg, %v, %k] : memref<2x4x8xf32>
        tessera.yield
      }
    }
    gpu.terminator
  }
  return
}

// The subgroups exchange data of their vthreads, after barriers in a loop whose
// bound is known at run time only.
func.func private @while(%x: memref<2x64xf32>, %out: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%shared : memref<2x4xf32, #space>) {
    %sg = gpu.subgroup_id : index
    %other = arith.subi %c1, %sg : index
    tessera.vthread (%v, %w) in (2, 2) {
      %at = affine.apply affine_map<(v, w) -> (v * 2 + w)>(%v, %w)
      %first = memref.load %x[%sg, %at] : memref<2x64xf32>
      %r:2 = scf.while (%i = %c0, %a = %first) : (index, f32) -> (index, f32) {
        memref.store %a, %shared[%sg, %at] : memref<2x4xf32, #space>
        gpu.barrier
        %more = arith.cmpi ult, %i, %c5 : index
        scf.condition(%more) %i, %a : index, f32
      } do {
      ^bb0(%i: index, %a: f32):
        %theirs = memref.load %shared[%other, %at] : memref<2x4xf32, #space>
        %sum = arith.subf %theirs, %a : f32
        gpu.barrier
        %n = arith.addi %i, %c1 : index
        scf.yield %n, %sum : index, f32
      }
      memref.store %r#1, %out[%sg, %at] : memref<2x4xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

// The end of the loop around the barriers is computed in the region, by a loop
// of its own: it is the same for all vthreads, one after the other or not.
func.func private @late(%x: memref<2x64xf32>, %out: memref<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%shared : memref<2x3xf32, #space>) {
    %sg = gpu.subgroup_id : index
    %other = arith.subi %c1, %sg : index
    tessera.vthread (%v) in (3) order depth_first {
      %first = memref.load %x[%sg, %v] : memref<2x64xf32>
      %end:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%e = %c1, %s = %first) -> (index, f32) {
        %f = arith.addi %e, %i : index
        %value = memref.load %x[%sg, %i] : memref<2x64xf32>
        %t = arith.addf %s, %value : f32
        scf.yield %f, %t : index, f32
      }
      %r = scf.for %i = %c0 to %end#0 step %c1 iter_args(%a = %end#1) -> f32 {
        memref.store %a, %shared[%sg, %v] : memref<2x3xf32, #space>
        gpu.barrier
        %theirs = memref.load %shared[%other, %v] : memref<2x3xf32, #space>
        %next = arith.subf %theirs, %a : f32
        gpu.barrier
        scf.yield %next : f32
      }
      memref.store %r, %out[%sg, %v] : memref<2x3xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

// Groups of two, two and one.
func.func private @groups(%x: memref<2x64xf32>, %out: memref<2x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %sg = gpu.subgroup_id : index
    tessera.vthread (%v) in (5) order groups(2) {
      %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
        %at = affine.apply affine_map<(v, i) -> (v * 8 + i)>(%v, %i)
        %value = memref.load %x[%sg, %at] : memref<2x64xf32>
        %next = arith.addf %s, %value : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%sg, %v] : memref<2x5xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

// Memory of their own: in the thread, in a loop, two alternating buffers, and
// in workgroup memory, which the subgroups share.
func.func private @scratch(%x: memref<2x64xf32>, %out: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %sg = gpu.subgroup_id : index
    %other = arith.subi %c1, %sg : index
    tessera.vthread (%v) in (4) {
      %ping = memref.alloca() : memref<2xf32>
      %pong = memref.alloca() : memref<2xf32>
      %exchange = memref.alloca() : memref<2xf32, #space>
      %value = memref.load %x[%sg, %v] : memref<2x64xf32>
      memref.store %value, %ping[%c0] : memref<2xf32>
      memref.store %value, %exchange[%sg] : memref<2xf32, #space>
      gpu.barrier
      %theirs = memref.load %exchange[%other] : memref<2xf32, #space>
      memref.store %theirs, %ping[%c1] : memref<2xf32>
      %b:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%from = %ping, %to = %pong) -> (memref<2xf32>, memref<2xf32>) {
        %p = memref.load %from[%c0] : memref<2xf32>
        %q = memref.load %from[%c1] : memref<2xf32>
        %sum = arith.addf %p, %q : f32
        memref.store %sum, %to[%c1] : memref<2xf32>
        memref.store %q, %to[%c0] : memref<2xf32>
        scf.yield %to, %from : memref<2xf32>, memref<2xf32>
      }
      %r = memref.load %b#0[%c1] : memref<2xf32>
      memref.store %r, %out[%sg, %v] : memref<2x4xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

// The vthreads' tokens are waited for inside, and outside.
func.func private @copies(%x: memref<128x16xf16>, %out: memref<64x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%one : memref<64x16xf16, #space>, %two : memref<64x16xf16, #space>) {
    %tokens:4 = tessera.vthread (%v) in (4) -> (!tessera.token, !tessera.token, !tessera.token, !tessera.token) {
      %row = affine.apply affine_map<(v) -> (v * 16)>(%v)
      %from = arith.addi %row, %c64 : index
      %t = tessera.async_copy %x[%row, %c0], %one[%row, %c0] shape [16, 16] : memref<128x16xf16>, memref<64x16xf16, #space>
      %u = tessera.async_copy %x[%from, %c0], %two[%row, %c0] shape [16, 16] : memref<128x16xf16>, memref<64x16xf16, #space>
      tessera.wait for %t pending 1
      tessera.yield %u : !tessera.token
    }
    tessera.wait for %tokens#0, %tokens#1, %tokens#2, %tokens#3
    gpu.barrier
    %sg = gpu.subgroup_id : index
    tessera.vthread (%v) in (2) {
      %row = affine.apply affine_map<(v)[s] -> (v * 16 + s * 32)>(%v)[%sg]
      %a = tessera.load %one[%row, %c0] : memref<64x16xf16, #space> -> !tessera.fragment<16x16xf16, acc>
      %b = tessera.load %two[%row, %c0] : memref<64x16xf16, #space> -> !tessera.fragment<16x16xf16, acc>
      %c = tessera.map %a, %b : !tessera.fragment<16x16xf16, acc>, !tessera.fragment<16x16xf16, acc> -> !tessera.fragment<16x16xf16, acc> {
      ^bb0(%p: f16, %q: f16):
        %s = arith.subf %p, %q : f16
        tessera.yield %s : f16
      }
      tessera.store %c, %out[%row, %c0] : !tessera.fragment<16x16xf16, acc>, memref<64x16xf16>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
