//===- Loader.cpp - The function that computes constants ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loader.h"

#include "Graph/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::hasLiftedConstants(ModuleOp module) {
  auto isLifted = [](Attribute elements) {
    auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(elements);
    return resource && !getConstantHash(resource).empty();
  };
  WalkResult result = module.walk([&](Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto global = dyn_cast<memref::GlobalOp>(op);
    bool isFound = (constant && isLifted(constant.getValue())) ||
                   (global && isLifted(global.getInitialValueAttr()));
    return isFound ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

func::FuncOp mlir::tessera::getLoader(ModuleOp module) {
  if (auto known = module.lookupSymbol<func::FuncOp>(loaderName))
    return known;
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  auto loader = func::FuncOp::create(builder, module.getLoc(), loaderName,
                                     builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(loader.addEntryBlock());
  func::ReturnOp::create(builder, loader.getLoc());
  return loader;
}

std::string mlir::tessera::addComputedGlobal(ModuleOp module, Location loc,
                                             MemRefType type) {
  std::string name;
  unsigned number = 0;
  do {
    name = (computedPrefix + Twine(number++)).str();
  } while (module.lookupSymbol(name));
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  memref::GlobalOp::create(builder, loc, name, builder.getStringAttr("private"),
                           type, builder.getUnitAttr(), /*constant=*/false,
                           /*alignment=*/IntegerAttr());
  return name;
}

bool mlir::tessera::isConstantGlobal(memref::GlobalOp global) {
  return (global.getConstant() && global.getInitialValueAttr()) ||
         global.getSymName().starts_with(computedPrefix);
}
