// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// Images that are gathered by windows, which the engine walks through.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // The first window's position, and the position within it; beyond the last
  // column, channels are out of bounds.
  // CHECK-LABEL: gpu.func @padded
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup"
  // CHECK-SAME:    tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 1, 1, 128, 64>, extent = array<i64: 27, 14>, lower = array<i64: -1, -2>, stride = array<i64: 2, 1>, swizzle = 128 : i64, symbol = @padded_map_0}]
  // CHECK:         %[[MAP:.+]] = llvm.mlir.addressof @padded_map_0
  // CHECK:         %[[FIRST:.+]] = arith.muli %block_id_x, %c64
  // CHECK:         scf.for %[[I:.+]] = %c0 to %c9
  // CHECK:           expect_tx{{.*}} %c16384_i32
  // CHECK:           %[[COL:.+]] = arith.muli %[[I]], %c64
  // CHECK-DAG:       %[[OW:.+]] = arith.remui %[[FIRST]], %c14
  // CHECK-DAG:       %[[REST:.+]] = arith.divui %[[FIRST]], %c14
  // CHECK-DAG:       %[[OH:.+]] = arith.remui %[[REST]], %c14
  // CHECK-DAG:       %[[N:.+]] = arith.divui %[[REST]], %c14
  // CHECK-DAG:       %[[C:.+]] = arith.remui %[[COL]], %c64
  // CHECK-DAG:       %[[POSITION:.+]] = arith.divui %[[COL]], %c64
  // CHECK-DAG:       %[[S:.+]] = arith.remui %[[POSITION]], %c3
  // CHECK-DAG:       %[[R:.+]] = arith.divui %[[POSITION]], %c3
  // CHECK-DAG:       %[[OH2:.+]] = arith.muli %[[OH]], %c2
  // CHECK-DAG:       %[[H:.+]] = arith.addi %[[OH2]], %c-1
  // CHECK-DAG:       %[[W:.+]] = arith.addi %[[OW]], %c-2
  // CHECK-DAG:       %[[S2:.+]] = arith.muli %[[S]], %c2
  // CHECK-DAG:       %[[OFFW:.+]] = arith.index_cast %[[S2]] : index to i16
  // CHECK-DAG:       %[[OFFH:.+]] = arith.index_cast %[[R]] : index to i16
  // CHECK-DAG:       %[[INSIDE:.+]] = arith.cmpi ult, %[[COL]], %c576
  // CHECK-DAG:       %[[CHANNEL:.+]] = arith.select %[[INSIDE]], %[[C]], %c64
  // CHECK-DAG:       %[[C32:.+]] = arith.index_cast %[[CHANNEL]] : index to i32
  // CHECK-DAG:       %[[W32:.+]] = arith.index_cast %[[W]] : index to i32
  // CHECK-DAG:       %[[H32:.+]] = arith.index_cast %[[H]] : index to i32
  // CHECK-DAG:       %[[N32:.+]] = arith.index_cast %[[N]] : index to i32
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAP]], %{{.+}}, box[%[[C32]], %[[W32]], %[[H32]], %[[N32]]] im2col[%[[OFFW]], %[[OFFH]]] {mode = #nvvm.tma_load_mode<im2col>}
  gpu.func @padded(%a: memref<2x28x14x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h * 2 + r - 1, w + s * 2 - 2, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x28x14x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // One dimension, and one image: its index is 0. Rows of 256 bytes are two panels.
  // CHECK-LABEL: gpu.func @line
  // CHECK-SAME:    {argument = 0 : i64, box = array<i64: 1, 128, 64>, extent = array<i64: 28>, lower = array<i64: 0>, stride = array<i64: 1>, swizzle = 128 : i64, symbol = @line_map_0}
  // CHECK-COUNT-2:   nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %{{.+}}, %{{.+}}, box[%{{.+}}, %{{.+}}, %c0_i32] im2col[%{{.+}}] {mode = #nvvm.tma_load_mode<im2col>}
  gpu.func @line(%a: memref<1x30x128xf16>, %c: memref<128x128xf16>) workgroup(%w: memref<128x128xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 128 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 128] contiguous 8
          window <rows = [28], cols = [3, 128], map = (w, s, c) -> (0, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %y, %true : index, index, index, i1
      } : memref<1x30x128xf16>, memref<128x128xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x128xf16, #wg> -> !tessera.fragment<128x128xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x128xf16, acc>, memref<128x128xf16>
    }
    gpu.return
  }

  // Windows that TMA does not support are not changed, and the reason is reported.

  // CHECK-LABEL: gpu.func @step
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: k steps of 64 do not divide the 96 channels"
  // CHECK-NOT:     mbarrier
  gpu.func @step(%a: memref<2x16x16x96xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 96], map = (n, h, w, r, s, c) -> (n, h + r, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x16x16x96xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @order
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: the order of the rows is not the order of the pixels in memory"
  // CHECK-NOT:     mbarrier
  gpu.func @order(%a: memref<2x16x16x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [14, 2, 14], cols = [3, 3, 64], map = (h, n, w, r, s, c) -> (n, h + r, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x16x16x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @channels
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: the columns are not contiguous channels"
  // CHECK-NOT:     mbarrier
  gpu.func @channels(%a: memref<2x16x16x128xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h + r, w + s, c * 2)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x16x16x128xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @stride
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: unsupported stride 9"
  // CHECK-NOT:     mbarrier
  gpu.func @stride(%a: memref<2x128x16x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h * 9 + r, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x128x16x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wide
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: the window is wider than 256"
  // CHECK-NOT:     mbarrier
  gpu.func @wide(%a: memref<2x16x512x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h + r, w + s * 200, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x16x512x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @corner
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: the window starts or ends further than 127 from the image's sides"
  // CHECK-NOT:     mbarrier
  gpu.func @corner(%a: memref<2x16x256x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h + r, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<2x16x256x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @images
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: the window moves over several images"
  // CHECK-NOT:     mbarrier
  gpu.func @images(%a: memref<4x14x16x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [2, 14, 14], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n + r, h, w + s, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %x, %x, %y, %true : index, index, index, index, i1
      } : memref<4x14x16x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rank
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: bulk copies do not support windows over images of 2 dimensions"
  // CHECK-NOT:     mbarrier
  gpu.func @rank(%a: memref<14x64xf16>, %c: memref<128x64xf16>) workgroup(%w: memref<128x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %step = arith.constant 64 : index
    %true = arith.constant true
    %row = gpu.block_id x
    %first = arith.muli %row, %step : index
    scf.for %i = %c0 to %c9 step %c1 {
      %col = arith.muli %i, %step : index
      gpu.barrier
      tessera.copy %a[%first, %col], %w[%c0, %c0] shape [128, 64] contiguous 8
          window <rows = [14], cols = [64], map = (w, c) -> (w, c)> swizzled gather {
      ^bb0(%x: index, %y: index):
        tessera.yield %x, %y, %true : index, index, i1
      } : memref<14x64xf16>, memref<128x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<128x64xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf16, acc>, memref<128x64xf16>
    }
    gpu.return
  }
}
