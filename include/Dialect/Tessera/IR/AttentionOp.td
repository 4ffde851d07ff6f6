//===- AttentionOp.td - Two matmuls and a softmax ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_ATTENTIONOP_TD
#define TESSERA_IR_ATTENTIONOP_TD

def Tessera_AttentionOp : Tessera_Op<"attention",
    [DestinationStyleOpInterface, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "attention: softmax(Q K^T) V in one kernel";
  let description = [{
    For each point of the batch, with the MxD matrix `query`, the NxD matrix
    `key`, the NxE matrix `value` and the MxE matrix `output`:

    `s[i, j] = scale * score(sum over d of query[i, d] * key[j, d])`

    `p[i, j] = exp(s[i, j] - max over j of s[i, j])`

    `output[i, e] = (sum over j of p[i, j] * value[j, e]) / sum over j of p[i, j]`

    Query `i` sees all keys, or those that the following permit; maxima and sums
    are taken over these keys. The output of a query that sees no key is zero,
    or NaN with `empty_is_nan`.

    - `causal C`: the keys `j <= i + C`.
    - `first F` and `last L`, maps of `(i, l)`: the keys `j` with `f <= j` for
      each result `f` of `F`, and `j <= l` for each result `l` of `L`. `l` is
      the value of the region `length`, which computes it from the indices of
      the batch. It is clamped to a magnitude of 2^30.

    Keys and values that no query sees may be left unread; beyond bounds that
    use `l`, none are read.

    The region `score` computes a score, of f32, from the sum over d and the
    indices of the batch, the query and the key. Without it, the score is the
    sum. A score may be minus infinity, which hides the key.

    The region `page` computes the page that holds a key from the indices of the
    batch and the key. Key and value then have one more dimension than their
    maps have results, the first one: the page. Their N is the number of keys of
    a page, S, and key `j` is row `j mod S` of its page; `keys` is the number
    of keys. The region yields the same page for all keys with the same
    `j div S`. A key whose page does not exist is zero, as is its value.

    Regions may use values from outside, and read memory.

    Scores, maxima and sums are f32. The weights `p` are rounded to the element
    type of `value` before the second matmul, that is before the division; the
    output is rounded once.

    Operands are tensors or memrefs. `maps` holds the indexing maps of query,
    key, value and output, over one iteration space whose last four dimensions
    are M, N, D and E; the dimensions before these are batch dimensions. The map
    of a key or value that is shared along a batch dimension does not use that
    dimension.

    `convert-linalg-to-tessera` forms this op from two matmuls and a softmax;
    `tessera-tile-attention` lowers it to one kernel, which does not store
    scores to memory.

    Constraints
    - `attention_c1`: each map is a projected permutation of the one iteration
      space, with as many results as the operand has dimensions; query uses M
      and D, key N and D, value N and E, and the output M and E; query and
      output use all batch dimensions, key and value may use some of them.
      Operands agree on the extent of each dimension.
    - `attention_c2`: query, key and value have the same element type, f16 or
      bf16; the element type of the output is the same or f32.
    - `attention_c3`: `scale` is positive and finite; the magnitude of `causal`
      is at most 2^30.
    - `attention_c4`: the operands are all tensors or all memrefs; the op has a
      result if and only if the output is a tensor.
    - `attention_c5`: `first` and `last` map `(i, l)` to sums of `i`, `l` and a
      constant, each at most once; the magnitude of a constant is at most 2^30;
      `l` requires the region `length`.
    - `attention_c6`: a region has one block, which takes an index for each
      dimension of the batch (`length`), the same and an index (`page`), or an
      f32, the same and two indices (`score`); it yields an index (`length`,
      `page`) or an f32 (`score`), and has no side effects except that it may
      read memory.
    - `attention_c7`: `page` and `keys` occur together, and require that the
      N of key and value is static and not zero.

    Example (64 queries and 80 keys for each of 4 heads):

    ```mlir
    func.func @heads(%q: tensor<4x64x32xf16>, %k: tensor<4x80x32xf16>,
                     %v: tensor<4x80x48xf16>, %o: tensor<4x64x48xf16>)
        -> tensor<4x64x48xf16> {
      %r = tessera.attention
          ins(%q, %k, %v : tensor<4x64x32xf16>, tensor<4x80x32xf16>, tensor<4x80x48xf16>)
          outs(%o : tensor<4x64x48xf16>)
          maps [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
          scale 0.125 causal 16 -> tensor<4x64x48xf16>
      return %r : tensor<4x64x48xf16>
    }
    ```

    Example (one query for each of 8 heads, the bias of ALiBi, a window of 256
    keys that ends at a length, and pages of 16 keys):

    ```mlir
    func.func @decode(%q: tensor<2x8x1x64xf16>, %k: tensor<100x16x8x64xf16>,
                      %v: tensor<100x16x8x64xf16>, %table: tensor<2x32xi32>,
                      %lengths: tensor<2xi32>, %slopes: tensor<8xf32>,
                      %o: tensor<2x8x1x64xf16>) -> tensor<2x8x1x64xf16> {
      %n = arith.constant 512 : index
      %r = tessera.attention
          ins(%q, %k, %v : tensor<2x8x1x64xf16>, tensor<100x16x8x64xf16>, tensor<100x16x8x64xf16>)
          outs(%o : tensor<2x8x1x64xf16>)
          maps [affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>, affine_map<(b, h, m, n, d, e) -> (n, h, d)>,
                affine_map<(b, h, m, n, d, e) -> (n, h, e)>, affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>]
          scale 1.0 first affine_map<(i, l) -> (l - 256)> last affine_map<(i, l) -> (l - 1)>
          keys %n
          length {
          ^bb0(%b: index, %h: index):
            %l = tensor.extract %lengths[%b] : tensor<2xi32>
            %length = arith.index_cast %l : i32 to index
            tessera.yield %length : index
          }
          page {
          ^bb0(%b: index, %h: index, %j: index):
            %c16 = arith.constant 16 : index
            %at = arith.divui %j, %c16 : index
            %p = tensor.extract %table[%b, %at] : tensor<2x32xi32>
            %page = arith.index_cast %p : i32 to index
            tessera.yield %page : index
          }
          score {
          ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
            %c = arith.constant 0.125 : f32
            %slope = tensor.extract %slopes[%h] : tensor<8xf32>
            %ji = arith.index_cast %j : index to i32
            %jf = arith.sitofp %ji : i32 to f32
            %y = arith.mulf %x, %c : f32
            %bias = arith.mulf %slope, %jf : f32
            %s = arith.addf %y, %bias : f32
            tessera.yield %s : f32
          } -> tensor<2x8x1x64xf16>
      return %r : tensor<2x8x1x64xf16>
    }
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value,
                       AnyShaped:$output, AffineMapArrayAttr:$maps,
                       Optional<Index>:$numKeys,
                       F32Attr:$scale, OptionalAttr<I64Attr>:$causal,
                       OptionalAttr<AffineMapAttr>:$first,
                       OptionalAttr<AffineMapAttr>:$last,
                       UnitAttr:$emptyIsNan,
                       OptionalAttr<Tessera_ScheduleAttr>:$schedule);
  let regions = (region AnyRegion:$length, AnyRegion:$page, AnyRegion:$score);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,`
    type($value) `)` `outs` `(` $output `:` type($output) `)`
    `maps` $maps `scale` $scale (`causal` $causal^)? (`first` $first^)?
    (`last` $last^)? (`empty_is_nan` $emptyIsNan^)? (`schedule` $schedule^)?
    (`keys` $numKeys^)? (`length` $length^)? (`page` $page^)?
    (`score` $score^)?
    attr-dict (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The operands, in the order of the maps.
    enum Operand : unsigned { Query, Key, Value, Output };
    /// The iteration dimensions that follow the batch dimensions.
    enum Dim : unsigned { M, N, D, E };
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
    unsigned getNumBatchDims() { return getMap(Query).getNumDims() - 4; }
    /// The position of `dim` in the iteration space.
    unsigned getPosition(Dim dim) { return getNumBatchDims() + dim; }
    /// The dimension along the rows (columns) of an operand's matrices.
    static Dim getRows(unsigned operand) {
      return operand == Query || operand == Output ? M : N;
    }
    static Dim getCols(unsigned operand) {
      return operand == Query || operand == Key ? D : E;
    }
    /// A bound of the keys that query `i` sees: the sum of a constant, of `i` if
    /// `row`, and of the value of the region `length` if `length`.
    struct Bound {
      bool row, length;
      int64_t constant;
    };
    ::llvm::SmallVector<Bound> getFirstKeys();
    /// Includes the bound of `causal`.
    ::llvm::SmallVector<Bound> getLastKeys();
    /// The most keys that a query sees, as far as bounds determine it.
    ::std::optional<int64_t> getWindow();
    bool hasLength() { return !getLength().empty(); }
    bool hasPages() { return !getPage().empty(); }
    bool hasScore() { return !getScore().empty(); }
    /// The number of dimensions of an operand before those of its map.
    unsigned getNumPageDims(unsigned operand) {
      return hasPages() && getRows(operand) == N ? 1 : 0;
    }
    /// The number of keys of a page.
    int64_t getPageSize();
    /// The static extent of an iteration dimension, or kDynamic.
    int64_t getStaticExtent(unsigned position);
    int64_t getStaticExtent(Dim dim) { return getStaticExtent(getPosition(dim)); }
    /// The element type of query, key and value.
    ::mlir::Type getOperandType() {
      return ::mlir::getElementTypeOrSelf(getQuery().getType());
    }
  }];
}

#endif // TESSERA_IR_ATTENTIONOP_TD
