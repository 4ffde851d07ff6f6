//===- ImageSource.h - The ops that make an image ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_IMAGESOURCE_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_IMAGESOURCE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// How a copy reads the elements of an image: from its memory, or from where
/// the ops that make the image read them, without the image.
class ImageSource {
public:
  /// The elements of `memory`.
  explicit ImageSource(Value memory) : memory(memory) {}
  /// Finds the ops that make `image` for `user` alone: constant padding, and
  /// before that an element-wise op.
  ImageSource(Value image, Operation *user);

  /// Yields the element of the image at `indices`, or zero where these are not
  /// `inside`, from the body of a linalg op.
  void yieldElementOrZero(ImplicitLocOpBuilder &body, Value inside,
                          ArrayRef<Value> indices) const;

  bool isPadded() const { return padding != nullptr; }

  /// Erases the ops that made the image, after `user` does not read it, or
  /// after `writer` writes all of it.
  void eraseUnused(Operation *writer = nullptr);

private:
  void findPadding(Operation *user);
  void findElementwise(Operation *user);
  Value emitElement(ImplicitLocOpBuilder &body, ArrayRef<Value> indices) const;

  /// The memory that is read where no op is inlined.
  Value memory;
  linalg::GenericOp elementwise;
  /// The constant around the elements of `memory`, which begin at `offsets`.
  TypedAttr padding;
  SmallVector<int64_t> offsets, sizes;
  /// Allocations that are not needed.
  SmallVector<Value> unused;
};

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_IMAGESOURCE_H
