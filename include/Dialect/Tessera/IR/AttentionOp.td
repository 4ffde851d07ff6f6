//===- AttentionOp.td - Two matmuls and a softmax ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_ATTENTIONOP_TD
#define TESSERA_IR_ATTENTIONOP_TD

def Tessera_AttentionOp : Tessera_Op<"attention",
    [DestinationStyleOpInterface,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "attention: softmax(Q K^T) V in one kernel";
  let description = [{
    For each point of the batch, with the MxD matrix `query`, the NxD matrix
    `key`, the NxE matrix `value` and the MxE matrix `output`:

    `s[i, j] = scale * sum over d of query[i, d] * key[j, d]`

    `p[i, j] = exp(s[i, j] - max over j of s[i, j])`

    `output[i, e] = (sum over j of p[i, j] * value[j, e]) / sum over j of p[i, j]`

    With `causal C`, query `i` sees the keys `j <= i + C`, and maxima and sums
    are taken over these keys; otherwise it sees all keys. The output of a query
    that sees no key is zero.

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
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value,
                       AnyShaped:$output, AffineMapArrayAttr:$maps,
                       F32Attr:$scale, OptionalAttr<I64Attr>:$causal,
                       OptionalAttr<Tessera_ScheduleAttr>:$schedule);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,`
    type($value) `)` `outs` `(` $output `:` type($output) `)`
    `maps` $maps `scale` $scale (`causal` $causal^)? (`schedule` $schedule^)?
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
