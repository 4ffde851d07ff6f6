//===- Workbench.cpp - A device with the data of tasks on it --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Worker/Workbench.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tessera::tuning;
using runtime::HostArray;
using runtime::Status;

/// Bytes around each array that no candidate may write.
static constexpr size_t guardBytes = 512;
static constexpr uint8_t guardByte = 0xA5, poison = 0xFF;

TaskData::~TaskData() {
  for (char *buffer : buffers)
    (void)device.free(buffer);
}

static Status copyTo(runtime::Device &device, char *to,
                     const HostArray &array) {
  return array.data.empty()
             ? Status::success()
             : device.copyToDevice(to, array.data.data(), array.data.size());
}

Status TaskData::create() {
  runtime::FillSpec fill;
  fill.kind = runtime::FillSpec::Int;
  for (auto [i, slot] : llvm::enumerate(signature.arguments)) {
    runtime::Expected<HostArray> array =
        runtime::makeArray(slot.element, slot.shape, fill, /*defaultSeed=*/i);
    if (!array.ok())
      return array.status();
    arrays->push_back(array.take());
  }
  for (auto [slot, array] : llvm::zip_equal(signature.arguments, *arrays)) {
    runtime::Operand operand;
    operand.data = array.data.data();
    if (slot.isBuffer()) {
      void *memory = nullptr;
      size_t bytes = array.data.size() + 2 * guardBytes;
      if (Status status = device.allocate(bytes, &memory); !status.ok())
        return status;
      auto *buffer = static_cast<char *>(memory);
      buffers.push_back(buffer);
      if (Status status = device.fill(buffer, guardByte, bytes); !status.ok())
        return status;
      if (Status status = copyTo(device, buffer + guardBytes, array);
          !status.ok())
        return status;
      operand.data = buffer + guardBytes;
    } else {
      buffers.push_back(nullptr);
    }
    operands.push_back(operand);
  }
  return device.synchronize();
}

HostArray tessera::tuning::makePoisoned(HostArray array) {
  std::memset(array.data.data(), poison, array.data.size());
  return array;
}

Status TaskData::prepareOutputs(bool isAdded) {
  for (auto [i, slot] : llvm::enumerate(signature.arguments)) {
    if (!slot.isBuffer() || !slot.mayWrite)
      continue;
    char *data = buffers[i] + guardBytes;
    Status status = isAdded
                        ? copyTo(device, data, (*arrays)[i])
                        : device.fill(data, poison, (*arrays)[i].data.size());
    if (!status.ok())
      return status;
  }
  return Status::success();
}

Status TaskData::readOutputs(std::vector<HostArray> &outputs) {
  size_t number = 0;
  for (auto [i, slot] : llvm::enumerate(signature.arguments)) {
    if (!slot.isBuffer() || !slot.mayWrite)
      continue;
    // New memory costs more than the copy.
    if (number == outputs.size())
      outputs.push_back((*arrays)[i]);
    HostArray &output = outputs[number++];
    if (!output.data.empty())
      if (Status status = device.copyToHost(
              output.data.data(), buffers[i] + guardBytes, output.data.size());
          !status.ok())
        return status;
  }
  return Status::success();
}

Status TaskData::checkGuards(std::string &damage) {
  for (auto [i, slot] : llvm::enumerate(signature.arguments)) {
    if (!slot.isBuffer())
      continue;
    for (bool isAfter : {false, true}) {
      unsigned char bytes[guardBytes];
      char *position =
          buffers[i] +
          (isAfter ? guardBytes + (*arrays)[i].data.size() : size_t(0));
      if (Status status = device.copyToHost(bytes, position, guardBytes);
          !status.ok())
        return status;
      if (llvm::all_of(bytes, [](uint8_t byte) { return byte == guardByte; }))
        continue;
      damage = std::string("memory ") + (isAfter ? "behind" : "before") +
               " argument " + std::to_string(i) + " (" + slot.str() +
               ") was overwritten";
      // The next candidate is to find it whole.
      if (Status status = device.fill(position, guardByte, guardBytes);
          !status.ok())
        return status;
      return Status::success();
    }
  }
  return Status::success();
}

/// The distance of 1 from the next number of a type.
static double getEpsilon(runtime::ElementType type) {
  switch (type) {
  case runtime::ElementType::F16:
    return 0x1p-10;
  case runtime::ElementType::BF16:
    return 0x1p-7;
  default:
    return 0x1p-23;
  }
}

std::string
tessera::tuning::compareOutputs(const std::vector<HostArray> &got,
                                const std::vector<HostArray> &expected,
                                bool isExact) {
  for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(got, expected))) {
    const HostArray &own = std::get<0>(pair), &other = std::get<1>(pair);
    if (own.data == other.data)
      continue;
    // Sums of softmax' terms are rounded in some order, before and after they
    // are divided.
    double slack = isExact ? 0 : 4 * getEpsilon(own.type);
    int64_t wrong = 0, first = -1, size = own.size();
    for (int64_t i = 0; i < size; ++i) {
      double a = own.getDouble(i), b = other.getDouble(i);
      if (a == b || (std::isnan(a) && std::isnan(b)) ||
          std::fabs(a - b) <= slack * std::max(1.0, std::fabs(b)))
        continue;
      if (first < 0)
        first = i;
      ++wrong;
    }
    if (!wrong)
      continue;
    std::string text;
    llvm::raw_string_ostream(text)
        << wrong << " of " << size << " elements of output " << number
        << " are wrong; the first has index " << first << ": got "
        << own.getDouble(first) << ", expected " << other.getDouble(first);
    return text;
  }
  return "";
}

static Trial makeFailed(Outcome outcome, std::string error) {
  Trial trial;
  trial.outcome = outcome;
  trial.error = std::move(error);
  return trial;
}

static Status callOnce(runtime::Device &device, runtime::Executable &executable,
                       TaskData &data) {
  std::vector<runtime::CallResult> results;
  Status status = executable.run(data.getOperands(), results);
  for (runtime::CallResult &result : results)
    if (result.allocation)
      (void)device.free(result.allocation);
  return status;
}

Trial tessera::tuning::checkOutputs(runtime::Device &device, TaskData &data,
                                    bool isExact,
                                    const std::vector<HostArray> &expected,
                                    std::vector<HostArray> &outputs) {
  Status status = device.synchronize();
  if (status.ok())
    status = data.readOutputs(outputs);
  std::string damage;
  if (status.ok())
    status = data.checkGuards(damage);
  if (!status.ok())
    return makeFailed(Outcome::NotRun, status.message());
  if (!damage.empty())
    return makeFailed(Outcome::Wrong, damage);
  if (std::string wrong = compareOutputs(outputs, expected, isExact);
      !wrong.empty())
    return makeFailed(Outcome::Wrong, wrong);
  return {};
}

Trial tessera::tuning::tryOnce(runtime::Device &device,
                               runtime::Executable &executable,
                               const runtime::ProgramVariant &variant,
                               TaskData &data, bool isAdded, bool isExact,
                               const std::vector<HostArray> &expected,
                               std::vector<HostArray> &outputs) {
  for (const runtime::KernelRecord &kernel : variant.kernels) {
    runtime::Expected<runtime::KernelResources> resources =
        device.resources(kernel.name.c_str());
    if (resources.ok() && resources->spillBytes > 0)
      return makeFailed(Outcome::Spills,
                        kernel.name + " keeps " +
                            std::to_string(resources->spillBytes) +
                            " bytes per thread in memory");
  }
  Status status = data.prepareOutputs(isAdded);
  if (status.ok())
    status = callOnce(device, executable, data);
  if (!status.ok())
    return makeFailed(Outcome::NotRun, status.message());
  return checkOutputs(device, data, isExact, expected, outputs);
}

runtime::Expected<double>
tessera::tuning::timeOnce(runtime::Device &device,
                          runtime::Executable &executable, TaskData &data,
                          Caches caches) {
  double time = 0;
  // The device is busy with the fill while the host queues the rest, so that it
  // does not wait for the host in the timed run.
  Status status = device.flushCaches();
  if (status.ok() && caches == Caches::Warm)
    status = callOnce(device, executable, data);
  if (status.ok())
    status = device.timeBegin();
  if (status.ok())
    status = callOnce(device, executable, data);
  if (status.ok())
    status = device.timeEnd(&time);
  if (!status.ok())
    return status;
  return time;
}

void tessera::tuning::timeCandidate(runtime::Device &device,
                                    runtime::Executable &executable,
                                    TaskData &data, bool isAdded,
                                    const DeviceClock &clock, double best,
                                    const TimingOptions &options,
                                    Trial &trial) {
  trial.clockBefore = clock.read();
  double total = 0;
  auto run = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      runtime::Expected<double> time = timeOnce(device, executable, data);
      if (!time.ok()) {
        trial.outcome = Outcome::NotRun;
        trial.error = time.status().message();
        return false;
      }
      trial.times.push_back(*time);
      total += *time;
    }
    return true;
  };
  // Results of an earlier run must not hide elements that the last one does
  // not write.
  auto runLast = [&] {
    if (Status status = data.prepareOutputs(isAdded); !status.ok()) {
      trial.outcome = Outcome::NotRun;
      trial.error = status.message();
      return false;
    }
    return run(1);
  };
  // The first run warms up and does not count.
  if (!run(1))
    return;
  trial.times.clear();
  total = 0;
  if (!run(2) || !runLast())
    return;
  double least = *std::min_element(trial.times.begin(), trial.times.end());
  if (best > 0 && least > options.slow * best) {
    trial.outcome = Outcome::Slow;
    llvm::raw_string_ostream(trial.error)
        << "not timed precisely: more than " << llvm::format("%g", options.slow)
        << " times the best so far";
  } else {
    double mean = std::max(total / 3, 1e-4);
    auto wanted = static_cast<unsigned>(
        std::clamp(options.enough / mean, static_cast<double>(options.least),
                   static_cast<double>(options.most)));
    if (wanted > 3 && (!run(wanted - 4) || !runLast()))
      return;
  }
  trial.clockAfter = clock.read();
}
