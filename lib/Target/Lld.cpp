//===- Lld.cpp - LLVM's linker, in this process ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/NamelessFile.h"
#include "Target/Target.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mlir;
using namespace mlir::tessera;

namespace runtime = ::tessera::runtime;

LLD_HAS_DRIVER(elf)

namespace {
/// A pipe that lld writes to: instead of writing to a file, lld would create
/// another one beside it and rename that.
class Output {
public:
  Output() {
    if (pipe2(ends, O_CLOEXEC) == 0)
      reader = std::thread([this] { read(); });
  }
  ~Output() {
    if (reader.joinable())
      (void)finish();
  }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;

  bool isOpen() const { return ends[1] >= 0; }
  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(ends[1]);
  }
  /// Everything that was written, by a writer that has closed its end.
  std::string finish() {
    close(ends[1]);
    reader.join();
    close(ends[0]);
    return std::move(bytes);
  }

private:
  void read() {
    char buffer[1 << 16];
    while (true) {
      ssize_t got = ::read(ends[0], buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        return;
      bytes.append(buffer, static_cast<size_t>(got));
    }
  }

  int ends[2] = {-1, -1};
  std::string bytes;
  std::thread reader;
};
} // namespace

FailureOr<std::string> mlir::tessera::linkShared(Operation *op,
                                                 ArrayRef<StringRef> objects) {
  auto failWithoutFile = [&] {
    return op->emitError() << "cannot write a temporary file: "
                           << std::strerror(errno);
  };
  std::vector<std::unique_ptr<runtime::NamelessFile>> inputs;
  std::vector<std::string> paths;
  for (StringRef object : objects) {
    inputs.push_back(std::make_unique<runtime::NamelessFile>());
    if (!inputs.back()->write(object))
      return failWithoutFile();
    paths.push_back(inputs.back()->getPath());
  }
  Output output;
  if (!output.isOpen())
    return failWithoutFile();
  std::string outputPath = output.getPath();
  SmallVector<const char *> arguments = {
      "ld.lld",          "--no-undefined",           "-Bsymbolic",
      "-shared",         "--no-dependent-libraries", "-o",
      outputPath.c_str()};
  for (const std::string &path : paths)
    arguments.push_back(path.c_str());
  std::string log;
  llvm::raw_string_ostream messages(log);
  {
    // lld keeps its state in variables of the process.
    static std::mutex one;
    std::lock_guard<std::mutex> lock(one);
    lld::Result result = lld::lldMain(arguments, messages, messages,
                                      {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return op->emitError() << "cannot link the objects:\n" << log;
  }
  std::string linked = output.finish();
  if (linked.empty())
    return op->emitError() << "the linker wrote no output";
  return linked;
}
