//===- AttentionOp.td - Two products and a softmax ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_ATTENTIONOP_TD
#define TESSERA_IR_ATTENTIONOP_TD

def Tessera_AttentionOp : Tessera_Op<"attention",
    [DestinationStyleOpInterface,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "softmax(Q K^T) V, to become one kernel";
  let description = [{
    For each point of the batch, with the MxD matrix `query`, the NxD matrix
    `key`, the NxE matrix `value` and the MxE matrix `output`:

    `s[i, j] = scale * sum over d of query[i, d] * key[j, d]`

    `p[i, j] = exp(s[i, j] - max over j of s[i, j])`

    `output[i, e] = (sum over j of p[i, j] * value[j, e]) / sum over j of p[i, j]`

    With `causal C`, query `i` sees the keys `j <= i + C`, and maxima and sums
    are over these; else it sees all. The output of a query that sees no key is
    zero.

    Scores, maxima and sums are f32. What is multiplied by `value` is rounded to
    its element type, before it is divided; the output is rounded once.

    Operands are tensors or memrefs. `maps` holds the indexing maps of query,
    key, value and output, over one iteration space whose last four dimensions
    are M, N, D and E; those before are the batch. A key or value that is shared
    by a dimension of the batch does not use it.

    This is what `convert-linalg-to-tessera` makes of two products and a softmax;
    `tessera-tile-attention` makes one kernel of it, in which no score goes to
    memory.

    Constraints
    - `attention_c1`: maps are projected permutations of one iteration space, with
      as many results as the operand has dimensions; query uses M and D, key N and
      D, value N and E, the output M and E; query and output use all of the batch,
      key and value some of it. A dimension has one extent.
    - `attention_c2`: query, key and value have one element type, f16 or bf16; that
      of the output is the same or f32.
    - `attention_c3`: `scale` is positive and finite; `causal` is at most 2^30 from 0.
    - `attention_c4`: all operands are tensors, or all are memrefs; a result for a
      tensor output only.

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
    /// The dimensions after those of the batch.
    enum Dim : unsigned { M, N, D, E };
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[operand]).getValue();
    }
    unsigned getNumBatchDims() { return getMap(Query).getNumDims() - 4; }
    /// The iteration dimension that `dim` is.
    unsigned getPosition(Dim dim) { return getNumBatchDims() + dim; }
    /// The dimensions of the rows and columns of an operand's matrices.
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
