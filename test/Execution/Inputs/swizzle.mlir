// Swizzled tiles, mostly with rows of WIDTH elements. The script swizzle.py substitutes the words
// in capitals; STEPS is 2 * WIDTH, DEPTH the K of one instruction, EDGE the known bounds.

// A row by row, B column by column, both tiles' rows along K: one is loaded as
// it is, the other transposed. A and B end within a tile, and the rows of C as
// well.
func.func @rows_along_k_NAME(%A: memref<29xSTEPSxELEMENT>, %B: memref<7xSTEPSxELEMENT>, %C: memref<29x7xSUM>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %depth = arith.constant DEPTH : index
  %width = arith.constant WIDTH : index
  %steps = arith.constant STEPS : index
  %zero = arith.constant ZERO : SUM
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%a_tile : memref<2x32xWIDTHxELEMENT, #gpu.address_space<workgroup>>,
                       %b_tile : memref<8xWIDTHxELEMENT, #gpu.address_space<workgroup>>) {
    %subgroup = gpu.subgroup_id : index
    %row = arith.muli %subgroup, %c16 : index
    %init = tessera.fill %zero : !tessera.fragment<16x8xSUM, acc>
    %sum = scf.for %k = %c0 to %steps step %width
        iter_args(%outer = %init) -> !tessera.fragment<16x8xSUM, acc> {
      gpu.barrier
      %t = tessera.async_copy %A[%c0, %k], %a_tile[%c1, %c0, %c0] shape [32, WIDTH] swizzled
          : memref<29xSTEPSxELEMENT>, memref<2x32xWIDTHxELEMENT, #gpu.address_space<workgroup>>
      tessera.copy %B[%c0, %k], %b_tile[%c0, %c0] shape [8, WIDTH] swizzled
          : memref<7xSTEPSxELEMENT>, memref<8xWIDTHxELEMENT, #gpu.address_space<workgroup>>
      tessera.wait for %t
      gpu.barrier
      %partial = scf.for %kk = %c0 to %width step %depth
          iter_args(%acc = %outer) -> !tessera.fragment<16x8xSUM, acc> {
        %a = tessera.load %a_tile[%c1, %row, %kk] in_bounds swizzled
            : memref<2x32xWIDTHxELEMENT, #gpu.address_space<workgroup>> -> !tessera.fragment<16xDEPTHxELEMENT, a>
        %b = tessera.load %b_tile[%c0, %kk] transpose in_bounds swizzled
            : memref<8xWIDTHxELEMENT, #gpu.address_space<workgroup>> -> !tessera.fragment<DEPTHx8xELEMENT, b>
        %n = tessera.mma %a, %b, %acc PRECISION
            : !tessera.fragment<16xDEPTHxELEMENT, a>, !tessera.fragment<DEPTHx8xELEMENT, b>
            -> !tessera.fragment<16x8xSUM, acc>
        scf.yield %n : !tessera.fragment<16x8xSUM, acc>
      }
      scf.yield %partial : !tessera.fragment<16x8xSUM, acc>
    }
    tessera.store %sum, %C[%row, %c0] : !tessera.fragment<16x8xSUM, acc>, memref<29x7xSUM>
    gpu.terminator
  }
  return
}

// A column by column, B row by row: the tiles' rows along M and N. A load of
// A may exceed a tile with short rows.
func.func @rows_along_m_and_n_NAME(%A: memref<27xWIDTHxELEMENT>, %B: memref<27xWIDTHxELEMENT>, %C: memref<WIDTHxWIDTHxSUM>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %depth = arith.constant DEPTH : index
  %width = arith.constant WIDTH : index
  %zero = arith.constant ZERO : SUM
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%a_tile : memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>>,
                       %b_tile : memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>>) {
    %t = tessera.async_copy %A[%c0, %c0], %a_tile[%c0, %c0] shape [32, WIDTH] swizzled
        : memref<27xWIDTHxELEMENT>, memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>>
    tessera.copy %B[%c0, %c0], %b_tile[%c0, %c0] shape [32, WIDTH] swizzled
        : memref<27xWIDTHxELEMENT>, memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.barrier
    %subgroup = gpu.subgroup_id : index
    %first = arith.muli %subgroup, %c16 : index
    %init = tessera.fill %zero : !tessera.fragment<16x8xSUM, acc>
    scf.for %i = %first to %width step %c32 {
      scf.for %j = %c0 to %width step %c8 {
        %sum = scf.for %k = %c0 to %c32 step %depth
            iter_args(%acc = %init) -> !tessera.fragment<16x8xSUM, acc> {
          %a = tessera.load %a_tile[%k, %i] transpose EDGE swizzled
              : memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>> -> !tessera.fragment<16xDEPTHxELEMENT, a>
          %b = tessera.load %b_tile[%k, %j] in_bounds swizzled
              : memref<32xWIDTHxELEMENT, #gpu.address_space<workgroup>> -> !tessera.fragment<DEPTHx8xELEMENT, b>
          %n = tessera.mma %a, %b, %acc PRECISION
              : !tessera.fragment<16xDEPTHxELEMENT, a>, !tessera.fragment<DEPTHx8xELEMENT, b>
              -> !tessera.fragment<16x8xSUM, acc>
          scf.yield %n : !tessera.fragment<16x8xSUM, acc>
        }
        tessera.store %sum, %C[%i, %j] : !tessera.fragment<16x8xSUM, acc>, memref<WIDTHxWIDTHxSUM>
      }
    }
    gpu.terminator
  }
  return
}

// The layout in memory: a tile from its second row and second half on, read as it is.
func.func @raw_NAME(%A: memref<29xWIDTHxELEMENT>, %C: memref<32xSTEPSxELEMENT>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant WIDTH : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<32xSTEPSxELEMENT, #gpu.address_space<workgroup>>) {
    tessera.copy %C[%c0, %c0], %tile[%c0, %c0] shape [32, STEPS] swizzled
        : memref<32xSTEPSxELEMENT>, memref<32xSTEPSxELEMENT, #gpu.address_space<workgroup>>
    gpu.barrier
    %t = tessera.async_copy %A[%c0, %c0], %tile[%c1, %width] shape [30, WIDTH] swizzled
        : memref<29xWIDTHxELEMENT>, memref<32xSTEPSxELEMENT, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.barrier
    tessera.copy %tile[%c0, %c0], %C[%c0, %c0] shape [32, STEPS]
        : memref<32xSTEPSxELEMENT, #gpu.address_space<workgroup>>, memref<32xSTEPSxELEMENT>
    gpu.terminator
  }
  return
}
