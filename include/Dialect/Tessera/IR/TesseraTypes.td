//===- TesseraTypes.td - Types of the tessera dialect ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_TESSERATYPES_TD
#define TESSERA_IR_TESSERATYPES_TD

include "Dialect/Tessera/IR/TesseraAttrs.td"

class Tessera_Type<string name, string typeMnemonic>
    : TypeDef<Tessera_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tessera_FragmentType : Tessera_Type<"Fragment", "fragment"> {
  let summary = "a matrix tile held in the registers of a subgroup";
  let description = [{
    `!tessera.fragment<MxNxT, role>` is an M by N tile of elements of type T
    that the lanes of a subgroup hold together. `role` is the operand of a
    matmul that it can be: `a` (M by K), `b` (K by N) or `acc` (M by N).

    The shape is *logical*: any multiple of the shape of an instruction. `acc`
    fragments with one row or one column are vectors: results of
    `tessera.reduce`, and operands of `tessera.broadcast`.

    Element types: f16, bf16, f32, f64, i4, i8, i32, f8E4M3FN, f8E5M2,
    f8E4M3FNUZ, f8E5M2FNUZ. Few chips have matrix instructions for i4; on other
    chips, i4 is a storage type of weights, which are loaded and then converted
    by a `tessera.map`.

    Once legalized, the type names the instruction whose lane map distributes
    it: `!tessera.fragment<64x64xf32, acc, "mma.m16n8k16.f32.f16">`.

    Constraints
    - `fragment_t1`: M and N are positive.
    - `fragment_t2`: T is one of the types above.
  }];
  let parameters = (ins
    "int64_t":$rows,
    "int64_t":$cols,
    "::mlir::Type":$elementType,
    "::mlir::tessera::Role":$role,
    DefaultValuedParameter<"::mlir::StringAttr", "::mlir::StringAttr()">:$instruction);
  let builders = [
    TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$cols,
        "::mlir::Type":$elementType, "::mlir::tessera::Role":$role), [{
      return $_get(elementType.getContext(), rows, cols, elementType, role,
                   ::mlir::StringAttr());
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of elements, rows times columns.
    int64_t getNumElements() const { return getRows() * getCols(); }
    /// The same type with another element type.
    FragmentType cloneWithElementType(::mlir::Type type) const;
    /// The same type, distributed by the lane map of `instruction` (null for
    /// the portable type).
    FragmentType cloneWithInstruction(::mlir::StringAttr instruction) const;
    /// Whether `type` can be an element of a fragment (fragment_t2).
    static bool isValidElementType(::mlir::Type type);
  }];
}

def Tessera_TokenType : Tessera_Type<"Token", "token"> {
  let summary = "an asynchronous copy in flight";
  let description = [{
    Stands for one `tessera.async_copy` until a `tessera.wait` consumes it.
  }];
}

def Tessera_AnyFragment : Type<
    CPred<"::llvm::isa<::mlir::tessera::FragmentType>($_self)">,
    "fragment", "::mlir::tessera::FragmentType">;

class Tessera_FragmentOf<string role> : Type<
    And<[Tessera_AnyFragment.predicate,
         CPred<"::llvm::cast<::mlir::tessera::FragmentType>($_self).getRole()"
               " == ::mlir::tessera::Role::" # role>]>,
    "fragment of role " # !tolower(role), "::mlir::tessera::FragmentType">;

#endif // TESSERA_IR_TESSERATYPES_TD
