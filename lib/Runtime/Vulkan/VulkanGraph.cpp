//===- VulkanGraph.cpp - Commands that are recorded once ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanGraph.h"

#include "VulkanKernels.h"

#include <algorithm>
#include <cstring>

using namespace tessera::runtime;

VulkanGraph::~VulkanGraph() {
  // A failure is that of a lost device, which executes nothing any more.
  (void)queue.await(use);
  queue.freeCommands(commands);
  memory.destroy(parameters);
}

void VulkanGraph::setStep(Step &step, const LaunchRequest &request) {
  for (int dim = 0; dim < 3; ++dim)
    step.grid[dim] = static_cast<uint32_t>(request.grid[dim]);
  packVulkanParameters(request, reinterpret_cast<char *>(values.data()) +
                                    step.parameters);
}

void VulkanGraph::addLaunch(VkPipeline pipeline, bool isPushed,
                            const LaunchRequest &request) {
  Step step;
  step.pipeline = pipeline;
  if (isPushed)
    step.pushedBytes =
        static_cast<uint32_t>(request.numArgs) * uint32_t(sizeof(uint64_t));
  step.parameters = values.size() * sizeof(uint64_t);
  values.resize(values.size() + static_cast<size_t>(request.numArgs));
  setStep(step, request);
  steps.push_back(step);
}

void VulkanGraph::addCopy(void *to, const void *from, size_t bytes) {
  Step step;
  step.to = to;
  step.from = from;
  step.bytes = bytes;
  steps.push_back(step);
  hasCopies = true;
}

DriverResult VulkanGraph::create() {
  VkDeviceSize bytes = values.size() * sizeof(uint64_t);
  if (DriverResult result =
          memory.create(std::max<VkDeviceSize>(bytes, 1), vulkanHostMemory,
                        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, parameters);
      result.failed())
    return result;
  if (bytes)
    std::memcpy(parameters.mapped, values.data(), bytes);
  if (DriverResult result = queue.allocateSecondary(commands); result.failed())
    return result;
  return record();
}

void VulkanGraph::recordLaunch(const Step &step) {
  if (step.pushedBytes) {
    queue.recordLaunch(commands, step.pipeline, layout,
                       &values[step.parameters / sizeof(uint64_t)],
                       step.pushedBytes, step.grid);
    return;
  }
  uint64_t address = parameters.address + step.parameters;
  queue.recordLaunch(commands, step.pipeline, layout, &address, sizeof(address),
                     step.grid);
}

DriverResult VulkanGraph::record() {
  if (DriverResult result = queue.await(use); result.failed())
    return result;
  isRecorded = false;
  if (DriverResult result = queue.beginSecondary(commands); result.failed())
    return result;
  for (const Step &step : steps) {
    if (step.pipeline)
      recordLaunch(step);
    else if (DriverResult result =
                 queue.recordCopy(commands, step.to, step.from, step.bytes);
             result.failed())
      return result;
  }
  DriverResult result = queue.endSecondary(commands);
  isRecorded = !result.failed();
  buffersThen = memory.countReleases();
  return result;
}

DriverResult VulkanGraph::setLaunch(size_t index,
                                    const LaunchRequest &request) {
  if (DriverResult result = queue.await(use); result.failed())
    return result;
  Step &step = steps[index];
  Step before = step;
  std::vector<uint64_t> pushed(
      values.begin() + static_cast<ptrdiff_t>(step.parameters / 8),
      values.begin() +
          static_cast<ptrdiff_t>((step.parameters + step.pushedBytes) / 8));
  setStep(step, request);
  auto bytes = static_cast<size_t>(request.numArgs) * sizeof(uint64_t);
  if (bytes)
    std::memcpy(parameters.mapped + step.parameters,
                reinterpret_cast<const char *>(values.data()) + step.parameters,
                bytes);
  // The grid and push constants are part of the commands.
  isRecorded &=
      std::equal(step.grid, step.grid + 3, before.grid) &&
      std::equal(pushed.begin(), pushed.end(),
                 values.begin() + static_cast<ptrdiff_t>(step.parameters / 8));
  return vulkanSuccess();
}

DriverResult VulkanGraph::setCopy(size_t index, void *to, const void *from,
                                  size_t bytes) {
  Step &step = steps[index];
  step.to = to;
  step.from = from;
  step.bytes = bytes;
  isRecorded = false;
  return vulkanSuccess();
}

bool VulkanGraph::mustWait(bool isChanged) {
  return (isChanged || isStale()) && queue.isUnderWay(use);
}

DriverResult VulkanGraph::launch() {
  if (isStale())
    if (DriverResult result = record(); result.failed())
      return result;
  return queue.execute(commands, static_cast<unsigned>(steps.size()), use);
}
