//===- MeasureWorker.cpp - The process that owns a device -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests, and their answers:
//
//   open    a task: the program's text, and the bundle of the compiler's own
//           choice, whose outputs become what all others are compared with;
//           answers with their checksum, and a while later, by `checked`,
//           whether they match the reference
//   load    a candidate's bundle; answers `loaded`, or `result` if it fails
//   go      runs, compares and times it; answers `result`
//   final   loads several, which then take turns, with the vendor's library
//   close   forgets a task
//
//===----------------------------------------------------------------------===//

#include "Tuning/Worker/Workers.h"

#include "Tuning/Cluster/Channel.h"
#include "Tuning/Worker/LibraryPeer.h"

#include "Driver/CompiledSums.h"
#include "Driver/Compiler.h"
#include "Reference/Verify.h"
#include "TargetInfo/SumBits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

using namespace tessera::tuning;
using runtime::HostArray;
using runtime::Status;
namespace json = llvm::json;
namespace compiler = mlir::tessera;

namespace {

using HostArrays = std::vector<HostArray>;

struct OpenTask {
  std::unique_ptr<TaskData> data;
  std::shared_ptr<const HostArrays> expected;
  /// The outputs of the last candidate.
  std::vector<HostArray> outputs;
  bool isAdded = false, isExact = true;
};

struct Candidate {
  std::string task;
  runtime::Bundle bundle;
  std::unique_ptr<runtime::Executable> executable;
};

class MeasureWorker {
public:
  MeasureWorker(Channel channel, std::unique_ptr<runtime::Device> device,
                std::string fault)
      : channel(std::move(channel)), device(std::move(device)),
        clock(this->device->info()), fault(std::move(fault)) {}
  ~MeasureWorker() {
    if (!checker.joinable())
      return;
    {
      std::lock_guard<std::mutex> lock(checking);
      isOver = true;
    }
    hasCheck.notify_one();
    checker.join();
  }

  int run();

private:
  /// Has the reference compute something while the device goes on, after what
  /// it was asked before: one thread, so that compilers keep their cores.
  void addCheck(std::function<void()> check);
  void runChecks();
  void open(const Message &message);
  void load(const Message &message);
  void go(const json::Object &head);
  void runFinal(Message message);
  bool answer(json::Object head) {
    std::lock_guard<std::mutex> lock(sending);
    return channel.send({std::move(head), ""});
  }
  void answerTrial(int64_t id, const Trial &trial);
  runtime::Expected<Candidate> makeCandidate(const std::string &task,
                                             llvm::StringRef bytes);

  Channel channel;
  std::mutex sending;
  std::unique_ptr<runtime::Device> device;
  DeviceClock clock;
  /// The kind of fault that is planted in a program; empty for none.
  llvm::StringRef findFault(const runtime::ProgramVariant &variant) const;

  /// Planted faults, for tests; see `runMeasureWorker`.
  std::string fault;
  /// Tasks for which the reference found, after the final comparison, that the
  /// compiler's own choice is wrong.
  std::set<std::string> plantedChecks;
  std::map<std::string, OpenTask> tasks;
  std::map<int64_t, Candidate> candidates;
  std::mutex checking;
  std::condition_variable hasCheck;
  std::deque<std::function<void()>> checks;
  bool isOver = false;
  std::thread checker;
};

} // namespace

static uint64_t getChecksum(const std::vector<HostArray> &arrays) {
  uint64_t sum = 0;
  for (const HostArray &array : arrays)
    sum = sum * 31 + llvm::xxh3_64bits(llvm::ArrayRef(
                         reinterpret_cast<const uint8_t *>(array.data.data()),
                         array.data.size()));
  return sum;
}

/// An array of the runtime as the reference takes it.
static mlir::FailureOr<compiler::reference::Array>
toReference(const HostArray &array, mlir::Type type) {
  return compiler::reference::Array::decode(
      mlir::getElementTypeOrSelf(type), array.shape,
      llvm::ArrayRef(reinterpret_cast<const char *>(array.data.data()),
                     array.data.size()));
}

/// How the sums of a task's program were compiled.
static std::vector<compiler::reference::CompiledSum>
collectSums(const runtime::ProgramVariant &variant) {
  std::vector<compiler::reference::CompiledSum> sums;
  for (const runtime::KernelRecord &kernel : variant.kernels)
    for (const runtime::MatmulRecord &matmul : kernel.matmuls) {
      // A task is one contraction, or attention: locations are not needed.
      if (auto sum = compiler::describeSum(matmul.types, /*location=*/"",
                                           matmul.unitBits, matmul.unitLength))
        sums.push_back(*std::move(sum));
    }
  return sums;
}

/// Compares outputs with the reference's. Returns what is wrong, or nothing.
static std::string
checkByReference(const std::string &program,
                 std::vector<compiler::reference::CompiledSum> sums,
                 const std::vector<HostArray> &inputs,
                 const std::vector<HostArray> &outputs,
                 const runtime::Signature &signature, bool isAdded) {
  namespace reference = compiler::reference;
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (diagnostics.empty())
                                            diagnostics = diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  auto function =
      module ? module->lookupSymbol<mlir::func::FuncOp>("main") : nullptr;
  if (!function)
    return "the task's program cannot be read: " + diagnostics;
  llvm::SmallVector<reference::Array> arguments;
  llvm::SmallVector<reference::ComputedOutput> computed;
  size_t output = 0;
  for (auto [i, slot] : llvm::enumerate(signature.arguments)) {
    mlir::Type type = function.getArgument(i).getType();
    bool isOutput = slot.isBuffer() && slot.mayWrite;
    HostArray poisoned;
    // A task need not write all of an array.
    if (isOutput && !isAdded)
      poisoned = makePoisoned(inputs[i]);
    auto array = toReference(isOutput && !isAdded ? poisoned : inputs[i], type);
    if (failed(array))
      return "the reference does not support this element type";
    arguments.push_back(std::move(*array));
    if (!isOutput)
      continue;
    auto result = toReference(outputs[output++], type);
    if (failed(result))
      return "the reference does not support this element type";
    computed.push_back(
        {/*isResult=*/false, static_cast<unsigned>(i), std::move(*result)});
  }
  reference::VerifyOptions options;
  options.evaluation.maxWork = 20'000'000'000;
  options.evaluation.sums = std::move(sums);
  reference::Verification verified =
      reference::verify(function, arguments, computed, options);
  if (verified.status != reference::Status::Done)
    return "not checked: " +
           (diagnostics.empty() ? verified.message : diagnostics);
  for (const reference::Comparison &comparison : verified.comparisons)
    if (!comparison.ok || comparison.unverifiedCount != 0)
      return comparison.describe();
  return "";
}

runtime::Expected<Candidate>
MeasureWorker::makeCandidate(const std::string &task, llvm::StringRef bytes) {
  Candidate candidate;
  candidate.task = task;
  runtime::Expected<runtime::Bundle> bundle =
      runtime::readBundle({bytes.data(), bytes.size()});
  if (!bundle.ok())
    return bundle.status();
  candidate.bundle = bundle.take();
  runtime::Expected<std::unique_ptr<runtime::Executable>> executable =
      runtime::Executable::create(candidate.bundle, "main", *device);
  if (!executable.ok())
    return executable.status();
  candidate.executable = executable.take();
  return candidate;
}

void MeasureWorker::addCheck(std::function<void()> check) {
  {
    std::lock_guard<std::mutex> lock(checking);
    checks.push_back(std::move(check));
  }
  hasCheck.notify_one();
  if (!checker.joinable())
    checker = std::thread([this] { runChecks(); });
}

void MeasureWorker::runChecks() {
  std::unique_lock<std::mutex> lock(checking);
  while (true) {
    hasCheck.wait(lock, [&] { return isOver || !checks.empty(); });
    if (checks.empty())
      return;
    std::function<void()> check = std::move(checks.front());
    checks.pop_front();
    lock.unlock();
    check();
    lock.lock();
  }
}

void MeasureWorker::open(const Message &message) {
  std::string key = getText(message.head, "task");
  auto fail = [&](const std::string &why) {
    tasks.erase(key);
    answer(json::Object{{"op", "opened"}, {"task", key}, {"error", why}});
  };
  runtime::Expected<Candidate> own = makeCandidate(key, message.bytes);
  if (!own.ok())
    return fail(own.status().message());
  OpenTask &task = tasks[key];
  task.isAdded = message.head.getBoolean("added").value_or(false);
  task.isExact = message.head.getBoolean("exact").value_or(true);
  task.data =
      std::make_unique<TaskData>(*device, own->executable->getSignature());
  std::vector<runtime::CallResult> results;
  auto expected = std::make_shared<HostArrays>();
  Status status = task.data->create();
  if (status.ok())
    status = task.data->prepareOutputs(task.isAdded);
  if (status.ok())
    status = own->executable->run(task.data->getOperands(), results);
  if (status.ok())
    status = device->synchronize();
  if (status.ok())
    status = task.data->readOutputs(*expected);
  task.expected = expected;
  if (!status.ok())
    return fail(status.message());
  own->executable.reset();
  std::vector<compiler::reference::CompiledSum> sums;
  if (auto variant = runtime::selectVariant(own->bundle, device->info());
      variant.ok())
    sums = collectSums(**variant);
  answer(
      json::Object{{"op", "opened"},
                   {"task", key},
                   {"checksum", llvm::utohexstr(getChecksum(*task.expected))}});
  if (!message.head.getBoolean("check").value_or(false))
    return;
  runtime::Expected<const runtime::ProgramVariant *> variant =
      runtime::selectVariant(own->bundle, device->info());
  if (variant.ok() && findFault(**variant) == "reference") {
    plantedChecks.insert(key);
    return;
  }
  addCheck([this, key, program = getText(message.head, "program"),
            sums = std::move(sums), inputs = task.data->getArrays(),
            outputs = task.expected, isAdded = task.isAdded,
            signature = task.data->getSignature()] {
    std::string wrong =
        checkByReference(program, sums, *inputs, *outputs, signature, isAdded);
    answer(json::Object{{"op", "checked"}, {"task", key}, {"error", wrong}});
  });
}

void MeasureWorker::answerTrial(int64_t id, const Trial &trial) {
  json::Array times;
  for (double time : trial.times)
    times.push_back(time);
  answer(json::Object{
      {"op", "result"},
      {"id", id},
      {"outcome", compiler::tuning::getOutcomeName(trial.outcome).str()},
      {"error", trial.error},
      {"times", std::move(times)},
      {"clockBefore", trial.clockBefore},
      {"clockAfter", trial.clockAfter}});
}

void MeasureWorker::load(const Message &message) {
  int64_t id = message.head.getInteger("id").value_or(0);
  runtime::Expected<Candidate> candidate =
      makeCandidate(getText(message.head, "task"), message.bytes);
  if (!candidate.ok()) {
    Trial trial;
    trial.outcome = Outcome::NotRun;
    trial.error = candidate.status().message();
    answerTrial(id, trial);
    return;
  }
  candidates[id] = candidate.take();
  answer(json::Object{{"op", "loaded"}, {"id", id}});
}

llvm::StringRef
MeasureWorker::findFault(const runtime::ProgramVariant &variant) const {
  llvm::SmallVector<llvm::StringRef> faults;
  llvm::StringRef(fault).split(faults, '|', /*MaxSplit=*/-1,
                               /*KeepEmpty=*/false);
  for (llvm::StringRef one : faults) {
    llvm::StringRef kind, pattern;
    std::tie(kind, pattern) = one.split(':');
    for (const runtime::KernelRecord &kernel : variant.kernels)
      if (llvm::StringRef(kernel.schedule).contains(pattern))
        return kind;
  }
  return "";
}

/// A planted fault: values that no candidate computes.
static std::vector<HostArray> makeWrong(std::vector<HostArray> outputs) {
  outputs.front().setDouble(0, outputs.front().getDouble(0) + 1);
  return outputs;
}

void MeasureWorker::go(const json::Object &head) {
  int64_t id = head.getInteger("id").value_or(0);
  auto found = candidates.find(id);
  Trial trial;
  if (found == candidates.end() || !tasks.count(found->second.task)) {
    trial.outcome = Outcome::NotRun;
    trial.error = "it is not loaded";
    answerTrial(id, trial);
    return;
  }
  Candidate &candidate = found->second;
  OpenTask &task = tasks[candidate.task];
  runtime::Expected<const runtime::ProgramVariant *> variant =
      runtime::selectVariant(candidate.bundle, device->info());
  llvm::StringRef planted = variant.ok() ? findFault(**variant) : "";
  // The only way in which this process aborts: a fault for tests.
  if (planted == "crash")
    std::abort();
  while (planted == "hang")
    std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::vector<HostArray> *expected = task.expected.get();
  std::vector<HostArray> other;
  if (planted == "wrong") {
    other = makeWrong(*task.expected);
    expected = &other;
  }
  if (planted == "resources") {
    // The message of the device about it is used unchanged.
    runtime::LaunchRequest request;
    request.kernel = (*variant)->kernels.front().name.c_str();
    request.block[0] = int64_t(1) << 20;
    Status rejected = device->launch(request);
    trial.outcome = Outcome::NotRun;
    trial.error = rejected.message();
    candidates.erase(found);
    answerTrial(id, trial);
    return;
  }
  trial = tryOnce(*device, *candidate.executable, **variant, *task.data,
                  task.isAdded, task.isExact, *expected, task.outputs);
  if (trial.outcome == Outcome::Measured) {
    TimingOptions timing;
    timing.slow = head.getNumber("slow").value_or(timing.slow);
    timeCandidate(*device, *candidate.executable, *task.data, task.isAdded,
                  clock, head.getNumber("best").value_or(0), timing, trial);
    bool isTimed =
        trial.outcome == Outcome::Measured || trial.outcome == Outcome::Slow;
    if (planted == "late")
      expected = &(other = makeWrong(*task.expected));
    Trial after = isTimed ? checkOutputs(*device, *task.data, task.isExact,
                                         *expected, task.outputs)
                          : Trial();
    if (after.outcome != Outcome::Measured) {
      after.error = "after the timed runs: " + after.error;
      trial = std::move(after);
    }
  }
  candidates.erase(found);
  answerTrial(id, trial);
}

static runtime::LibraryMatmul readMatmul(const json::Object &object) {
  runtime::LibraryMatmul matmul;
  auto number = [&](llvm::StringRef name) {
    return object.getInteger(name).value_or(0);
  };
  auto type = [&](llvm::StringRef name) {
    auto parsed = runtime::parseElementType(getText(object, name));
    return parsed.ok() ? *parsed : runtime::ElementType::Index;
  };
  matmul.m = number("m");
  matmul.n = number("n");
  matmul.k = number("k");
  matmul.matrices = number("matrices");
  matmul.transposedLhs = object.getBoolean("transposedLhs").value_or(false);
  matmul.transposedRhs = object.getBoolean("transposedRhs").value_or(false);
  matmul.lhsStride = number("lhsStride");
  matmul.rhsStride = number("rhsStride");
  matmul.outStride = number("outStride");
  matmul.lhs = type("lhs");
  matmul.rhs = type("rhs");
  matmul.out = type("out");
  matmul.sum = type("sum");
  matmul.tf32 = object.getBoolean("tf32").value_or(false);
  return matmul;
}

void MeasureWorker::runFinal(Message message) {
  std::string key = getText(message.head, "task");
  auto found = tasks.find(key);
  if (found == tasks.end()) {
    answer(json::Object{
        {"op", "final"}, {"task", key}, {"error", "it is not open"}});
    return;
  }
  TaskData &data = *found->second.data;
  struct Runner {
    int64_t id;
    Candidate candidate;
    std::vector<double> times, warmTimes;
    std::string error;
    Outcome outcome = Outcome::Measured;
  };
  std::vector<Runner> runners;
  // The bundles are concatenated.
  size_t offset = 0;
  if (json::Array *list = message.head.getArray("candidates"))
    for (json::Value &value : *list) {
      const json::Object &object = *value.getAsObject();
      Runner runner;
      runner.id = object.getInteger("id").value_or(0);
      auto bytes = static_cast<size_t>(object.getInteger("bytes").value_or(0));
      runtime::Expected<Candidate> candidate = makeCandidate(
          key, llvm::StringRef(message.bytes).substr(offset, bytes));
      offset += bytes;
      if (candidate.ok())
        runner.candidate = candidate.take();
      else {
        runner.error = candidate.status().message();
        runner.outcome = Outcome::NotRun;
      }
      runners.push_back(std::move(runner));
    }
  // The library's queue is the default stream; the device's is empty.
  auto measure =
      [&](const std::function<Status()> &queue) -> runtime::Expected<double> {
    double time = 0;
    Status status = device->synchronize();
    if (status.ok())
      status = device->enterQueue(nullptr);
    if (!status.ok())
      return status;
    status = device->flushCaches();
    if (status.ok())
      status = device->timeBegin();
    if (status.ok())
      status = queue();
    if (status.ok())
      status = device->timeEnd(&time);
    Status left = device->leaveQueue();
    if (!status.ok() || !left.ok())
      return status.ok() ? left : status;
    return time;
  };
  LibraryPeer library(
      *device, data,
      [this](const runtime::LibraryMatmul &matmul) {
        return runtime::VendorLibrary::prepare(*device, matmul);
      },
      measure);
  std::string libraryError = "the task is not a plain matmul";
  std::vector<double> libraryTimes;
  if (const json::Object *object = message.head.getObject("product"))
    libraryError = library.choose(readMatmul(*object), *found->second.expected);
  int64_t clockBefore = clock.read();
  auto rounds =
      static_cast<unsigned>(message.head.getInteger("rounds").value_or(20));
  double seconds = message.head.getNumber("seconds").value_or(2);
  auto start = std::chrono::steady_clock::now();
  for (unsigned round = 0; round < rounds; ++round) {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    if (round >= 8 && elapsed.count() > seconds)
      break;
    // Each begins a round once, so that its predecessor varies.
    size_t count = runners.size() + (library ? 1 : 0);
    for (size_t iteration = 0; iteration < count; ++iteration) {
      size_t which = (iteration + round) % count;
      if (which == runners.size()) {
        runtime::Expected<double> time = library.time();
        if (time.ok() && round > 0)
          libraryTimes.push_back(*time);
        continue;
      }
      Runner &runner = runners[which];
      if (!runner.error.empty())
        continue;
      // In a program, the kernels before have left a part of the operands in
      // the cache.
      for (Caches caches : {Caches::Cold, Caches::Warm}) {
        runtime::Expected<double> time =
            timeOnce(*device, *runner.candidate.executable, data, caches);
        if (!time.ok()) {
          runner.error = time.status().message();
          runner.outcome = Outcome::NotRun;
          break;
        }
        if (round > 0)
          (caches == Caches::Cold ? runner.times : runner.warmTimes)
              .push_back(*time);
      }
    }
  }
  // The outputs after so many runs.
  OpenTask &task = found->second;
  for (Runner &runner : runners) {
    if (!runner.error.empty())
      continue;
    Trial after;
    Status status = data.prepareOutputs(task.isAdded);
    runtime::Expected<double> time =
        status.ok() ? timeOnce(*device, *runner.candidate.executable, data)
                    : runtime::Expected<double>(status);
    runtime::Expected<const runtime::ProgramVariant *> variant =
        runtime::selectVariant(runner.candidate.bundle, device->info());
    bool isPlanted = variant.ok() && findFault(**variant) == "final";
    if (time.ok()) {
      after = checkOutputs(
          *device, data, task.isExact,
          isPlanted ? makeWrong(*task.expected) : *task.expected, task.outputs);
    } else {
      after.outcome = Outcome::NotRun;
      after.error = time.status().message();
    }
    if (after.outcome == Outcome::Measured)
      continue;
    runner.outcome = after.outcome;
    runner.error = "after the timed runs: " + after.error;
    runner.times.clear();
    runner.warmTimes.clear();
  }
  json::Array results;
  for (Runner &runner : runners)
    results.push_back(json::Object{
        {"id", runner.id},
        {"outcome", compiler::tuning::getOutcomeName(runner.outcome).str()},
        {"error", runner.error},
        {"times", json::Array(runner.times)},
        {"warmTimes", json::Array(runner.warmTimes)}});
  answer(json::Object{{"op", "final"},
                      {"task", key},
                      {"results", std::move(results)},
                      {"library", library.getName()},
                      {"libraryError", libraryError},
                      {"libraryTimes", json::Array(libraryTimes)},
                      {"clockBefore", clockBefore},
                      {"clockAfter", clock.read()}});
  if (plantedChecks.erase(key) != 0)
    answer(json::Object{
        {"op", "checked"}, {"task", key}, {"error", "a planted fault"}});
}

int MeasureWorker::run() {
  const runtime::DeviceInfo &info = device->info();
  answer(json::Object{{"op", "ready"},
                      {"device", info.name},
                      {"driver", info.driver},
                      {"chip", info.chip},
                      {"targetId", info.targetId},
                      {"target", info.target}});
  while (std::optional<Message> message = channel.receive()) {
    std::string op = getText(message->head, "op");
    if (op == "open")
      open(*message);
    else if (op == "load")
      load(*message);
    else if (op == "go")
      go(message->head);
    else if (op == "final")
      runFinal(std::move(*message));
    else if (op == "close")
      tasks.erase(getText(message->head, "task"));
  }
  return 0;
}

int tessera::tuning::runMeasureWorker(Channel channel,
                                      const std::string &target, int ordinal,
                                      const std::string &fault) {
  auto device = runtime::openDevice(target, ordinal);
  if (!device.ok()) {
    channel.send(
        {json::Object{{"op", "ready"}, {"error", device.status().message()}},
         ""});
    return 1;
  }
  MeasureWorker worker(std::move(channel), device.take(), fault);
  return worker.run();
}

int tessera::tuning::runWorker(llvm::ArrayRef<llvm::StringRef> words,
                               Channel channel, llvm::raw_ostream &messages) {
  if (words.size() == 1 && words[0] == "compile") {
    runCompileWorker(std::move(channel));
    return 0;
  }
  int ordinal = 0;
  if (words.size() >= 3 && words[0] == "measure" &&
      !words[2].getAsInteger(10, ordinal))
    return runMeasureWorker(std::move(channel), words[1].str(), ordinal,
                            words.size() > 3 ? words[3].str() : "");
  messages << "error: gpu-tune worker is internal to gpu-tune\n";
  return 2;
}
