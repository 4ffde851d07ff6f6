// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a program for a GPU that is not here, by the C++ libraries.

#include "tessera/Driver/Compiler.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::MLIRContext context;
  mlir::tessera::prepareContext(context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[argc - 1], &context);
  mlir::tessera::CompileOptions options;
  options.target = "hip";
  options.chip = "gfx942";
  auto program =
      module ? mlir::tessera::compileProgram(*module, options) : nullptr;
  if (!program)
    return 1;
  for (const auto &matmul : program->matmuls)
    llvm::outs() << matmul.kernel << ": " << matmul.instruction << "\n";
  return 0;
}
