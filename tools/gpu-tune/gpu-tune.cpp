#include "Run.h"
#include "Workers.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
int main(int argc, char **argv) {
  llvm::SmallVector<llvm::StringRef> args(argv + 1, argv + argc);
  if (args.empty()) return 2;
  llvm::StringRef n = args[0];
  auto rest = llvm::ArrayRef<llvm::StringRef>(args).drop_front();
  if (n == "run") return tune::runTune(rest);
  if (n == "space") return tune::runSpace(rest);
  if (n == "worker") return tune::runWorker(rest);
  return 2;
}
