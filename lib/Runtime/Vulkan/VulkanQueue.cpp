//===- VulkanQueue.cpp - Recording and submitting commands ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanQueue.h"

#include <algorithm>

using namespace tessera::runtime;

namespace {
constexpr VkDeviceSize ownParameterBytes = 1 << 20;
/// The same for queues of the caller, and the maximum number of submissions to
/// these that are under way.
constexpr VkDeviceSize callersParameterBytes = 1 << 18;
constexpr size_t maxSubmissions = 32;
/// With this many commands a submission is complete.
constexpr unsigned maxRecorded = 4096;
} // namespace

DriverResult VulkanQueue::create() {
  vk.GetDeviceQueue(context.device, context.queueFamily, context.queueIndex,
                    &ownQueue);
  queue = ownQueue;
  auto poolInfo =
      make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  poolInfo.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  poolInfo.queueFamilyIndex = context.queueFamily;
  if (VkResult result = vk.CreateCommandPool(context.device, &poolInfo, nullptr,
                                             &commandPool))
    return toResult("vkCreateCommandPool", result);
  auto queryInfo =
      make<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
  queryInfo.queryType = VK_QUERY_TYPE_TIMESTAMP;
  queryInfo.queryCount = 2;
  if (VkResult result =
          vk.CreateQueryPool(context.device, &queryInfo, nullptr, &queries))
    return toResult("vkCreateQueryPool", result);
  return createSubmission(ownParameterBytes, own);
}

void VulkanQueue::destroy() {
  destroySubmission(own);
  for (auto &submission : callers)
    destroySubmission(*submission);
  if (queries)
    vk.DestroyQueryPool(context.device, queries, nullptr);
  if (commandPool)
    vk.DestroyCommandPool(context.device, commandPool, nullptr);
}

//===----------------------------------------------------------------------===//
// Submissions
//===----------------------------------------------------------------------===//

DriverResult VulkanQueue::createSubmission(VkDeviceSize parameterBytes,
                                           Submission &submission) {
  auto commandInfo = make<VkCommandBufferAllocateInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  commandInfo.commandPool = commandPool;
  commandInfo.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commandInfo.commandBufferCount = 1;
  if (VkResult result = vk.AllocateCommandBuffers(context.device, &commandInfo,
                                                  &submission.commands))
    return toResult("vkAllocateCommandBuffers", result);
  auto fenceInfo = make<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  if (VkResult result = vk.CreateFence(context.device, &fenceInfo, nullptr,
                                       &submission.fence))
    return toResult("vkCreateFence", result);
  return memory.create(parameterBytes, vulkanHostMemory,
                       VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                       submission.parameters);
}

void VulkanQueue::destroySubmission(Submission &submission) {
  // The command pool frees the command buffer.
  memory.destroy(submission.parameters);
  if (submission.fence)
    vk.DestroyFence(context.device, submission.fence, nullptr);
}

DriverResult VulkanQueue::submit() {
  recording = false;
  addOuterBarrier();
  if (VkResult result = vk.EndCommandBuffer(current->commands))
    return toResult("vkEndCommandBuffer", result);
  auto submit = make<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &current->commands;
  if (VkResult result = vk.QueueSubmit(queue, 1, &submit, current->fence))
    return toResult("vkQueueSubmit", result);
  current->queue = queue;
  ++numSubmitted;
  return vulkanSuccess();
}

DriverResult VulkanQueue::await(Submission &submission) {
  if (!submission.queue)
    return vulkanSuccess();
  submission.queue = VK_NULL_HANDLE;
  submission.usesPool = false;
  if (VkResult result = vk.WaitForFences(context.device, 1, &submission.fence,
                                         VK_TRUE, UINT64_MAX))
    return toResult("vkWaitForFences", result);
  submission.used = 0;
  ++submission.completed;
  return toResult("vkResetFences",
                  vk.ResetFences(context.device, 1, &submission.fence));
}

DriverResult VulkanQueue::finish() {
  if (!recording)
    return vulkanSuccess();
  DriverResult result = submit();
  return result.failed() ? result : await(*current);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

DriverResult VulkanQueue::begin(unsigned count) {
  // A graph may be longer by itself.
  if (recording && numRecorded >= maxRecorded)
    if (DriverResult result = finish(); result.failed())
      return result;
  numRecorded += count;
  if (recording)
    return vulkanSuccess();
  numRecorded = count;
  if (!isCallers)
    if (DriverResult result = awaitOthers(ownQueue); result.failed())
      return result;
  auto info = make<VkCommandBufferBeginInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (VkResult result = vk.ResetCommandBuffer(current->commands, 0))
    return toResult("vkResetCommandBuffer", result);
  if (VkResult result = vk.BeginCommandBuffer(current->commands, &info))
    return toResult("vkBeginCommandBuffer", result);
  recording = true;
  // Makes the host's writes to mapped buffers visible, and those of earlier
  // submissions of the caller.
  addOuterBarrier();
  return vulkanSuccess();
}

void VulkanQueue::addBarrier(VkCommandBuffer to) {
  // It names the stages and accesses of steps alone: with all of them, and
  // those of the host, a network takes up to 1.7 times as long on an H200.
  constexpr VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask =
      VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = barrier.srcAccessMask | VK_ACCESS_SHADER_READ_BIT |
                          VK_ACCESS_TRANSFER_READ_BIT;
  vk.CmdPipelineBarrier(to, stages, stages, 0, 1, &barrier, 0, nullptr, 0,
                        nullptr);
}

void VulkanQueue::addOuterBarrier() {
  auto barrier = make<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask =
      VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vk.CmdPipelineBarrier(current->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                            VK_PIPELINE_STAGE_HOST_BIT,
                        0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void VulkanQueue::recordLaunch(VkCommandBuffer to, VkPipeline pipeline,
                               VkPipelineLayout layout, const void *pushed,
                               uint32_t bytes, const uint32_t (&grid)[3]) {
  vk.CmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  if (bytes)
    vk.CmdPushConstants(to, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                        pushed);
  vk.CmdDispatch(to, grid[0], grid[1], grid[2]);
  addBarrier(to);
}

DriverResult VulkanQueue::copy(const VulkanBuffer &from,
                               VkDeviceSize fromOffset, const VulkanBuffer &to,
                               VkDeviceSize toOffset, VkDeviceSize bytes) {
  if (DriverResult result = begin(); result.failed())
    return result;
  VkBufferCopy region = {fromOffset, toOffset, bytes};
  vk.CmdCopyBuffer(current->commands, from.buffer, to.buffer, 1, &region);
  addBarrier();
  return vulkanSuccess();
}

DriverResult VulkanQueue::takeParameters(VkDeviceSize bytes,
                                         Parameters &parameters) {
  if (current->used + bytes > current->parameters.bytes)
    if (DriverResult result = finish(); result.failed())
      return result;
  if (DriverResult result = begin(); result.failed())
    return result;
  parameters.mapped = current->parameters.mapped + current->used;
  parameters.address = current->parameters.address + current->used;
  current->used += bytes;
  return vulkanSuccess();
}

//===----------------------------------------------------------------------===//
// Secondary command buffers
//===----------------------------------------------------------------------===//

DriverResult VulkanQueue::allocateSecondary(VkCommandBuffer &secondary) {
  auto info = make<VkCommandBufferAllocateInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  info.commandPool = commandPool;
  info.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
  info.commandBufferCount = 1;
  return toResult("vkAllocateCommandBuffers",
                  vk.AllocateCommandBuffers(context.device, &info, &secondary));
}

void VulkanQueue::freeCommands(VkCommandBuffer secondary) {
  if (secondary)
    vk.FreeCommandBuffers(context.device, commandPool, 1, &secondary);
}

DriverResult VulkanQueue::beginSecondary(VkCommandBuffer secondary) {
  auto inherited = make<VkCommandBufferInheritanceInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO);
  auto info = make<VkCommandBufferBeginInfo>(
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  // Later runs are recorded while earlier ones are under way.
  info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  info.pInheritanceInfo = &inherited;
  if (VkResult result = vk.ResetCommandBuffer(secondary, 0))
    return toResult("vkResetCommandBuffer", result);
  return toResult("vkBeginCommandBuffer",
                  vk.BeginCommandBuffer(secondary, &info));
}

DriverResult VulkanQueue::endSecondary(VkCommandBuffer secondary) {
  return toResult("vkEndCommandBuffer", vk.EndCommandBuffer(secondary));
}

DriverResult VulkanQueue::recordCopy(VkCommandBuffer secondary, void *to,
                                     const void *from, size_t bytes) {
  const VulkanBuffer *source = memory.find(from, bytes),
                     *target = memory.find(to, bytes);
  if (!source || !target)
    return {"vkCmdCopyBuffer", VK_ERROR_UNKNOWN};
  VkBufferCopy region = {source->getOffset(from), target->getOffset(to), bytes};
  vk.CmdCopyBuffer(secondary, source->buffer, target->buffer, 1, &region);
  addBarrier(secondary);
  return vulkanSuccess();
}

DriverResult VulkanQueue::execute(VkCommandBuffer secondary, unsigned count,
                                  Use &use) {
  if (DriverResult result = begin(count); result.failed())
    return result;
  vk.CmdExecuteCommands(current->commands, 1, &secondary);
  use.submission = current;
  use.number = current->completed;
  return vulkanSuccess();
}

bool VulkanQueue::isUnderWay(const Use &use) {
  if (!use.submission || use.number != use.submission->completed)
    return false;
  Submission &submission = *use.submission;
  bool hasRun =
      submission.queue &&
      vk.GetFenceStatus(context.device, submission.fence) == VK_SUCCESS;
  return !hasRun || await(submission).failed();
}

DriverResult VulkanQueue::await(const Use &use) {
  if (!isUnderWay(use))
    return vulkanSuccess();
  return use.submission == current && recording ? finish()
                                                : await(*use.submission);
}

//===----------------------------------------------------------------------===//
// Queues of the caller
//===----------------------------------------------------------------------===//

DriverResult VulkanQueue::awaitOthers(VkQueue queue) {
  for (auto &submission : callers)
    if (submission->queue && submission->queue != queue &&
        (submission->usesPool || !queue))
      if (DriverResult result = await(*submission); result.failed())
        return result;
  return vulkanSuccess();
}

DriverResult VulkanQueue::takeSubmission(Submission *&taken) {
  auto take = [&](size_t index) {
    // The most recently used submission is the last one, and the last to be
    // done.
    std::rotate(callers.begin() + static_cast<ptrdiff_t>(index),
                callers.begin() + static_cast<ptrdiff_t>(index) + 1,
                callers.end());
    taken = callers.back().get();
    return vulkanSuccess();
  };
  for (size_t index = 0; index < callers.size(); ++index) {
    Submission &submission = *callers[index];
    if (submission.queue &&
        vk.GetFenceStatus(context.device, submission.fence) == VK_SUCCESS)
      if (DriverResult result = await(submission); result.failed())
        return result;
    if (!submission.queue)
      return take(index);
  }
  if (callers.size() >= maxSubmissions) {
    DriverResult result = await(*callers.front());
    return result.failed() ? result : take(0);
  }
  auto made = std::make_unique<Submission>();
  DriverResult result = createSubmission(callersParameterBytes, *made);
  if (result.failed()) {
    destroySubmission(*made);
    return result;
  }
  callers.push_back(std::move(made));
  taken = callers.back().get();
  return result;
}

DriverResult VulkanQueue::enter(VkQueue theirs) {
  if (DriverResult result = finish(); result.failed())
    return result;
  if (DriverResult result = awaitOthers(theirs); result.failed())
    return result;
  Submission *taken = nullptr;
  if (DriverResult result = takeSubmission(taken); result.failed())
    return result;
  current = taken;
  queue = theirs;
  isCallers = true;
  return vulkanSuccess();
}

DriverResult VulkanQueue::leave(bool usesPool) {
  DriverResult result = vulkanSuccess();
  if (recording) {
    result = submit();
    current->usesPool = usesPool;
  }
  isCallers = recording = false;
  queue = ownQueue;
  current = &own;
  return result;
}

DriverResult VulkanQueue::guardPool(VkQueue theirs) {
  Submission *taken = nullptr;
  if (DriverResult result = takeSubmission(taken); result.failed())
    return result;
  // Submits only a fence, after all work queued so far.
  if (VkResult result = vk.QueueSubmit(theirs, 0, nullptr, taken->fence))
    return toResult("vkQueueSubmit", result);
  taken->queue = theirs;
  taken->usesPool = true;
  return vulkanSuccess();
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

DriverResult VulkanQueue::recordBegin() {
  if (DriverResult result = finish(); result.failed())
    return result;
  if (DriverResult result = begin(); result.failed())
    return result;
  vk.CmdResetQueryPool(current->commands, queries, 0, 2);
  vk.CmdWriteTimestamp(current->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                       queries, 0);
  return vulkanSuccess();
}

DriverResult VulkanQueue::recordEnd() {
  if (DriverResult result = begin(); result.failed())
    return result;
  vk.CmdWriteTimestamp(current->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                       queries, 1);
  return vulkanSuccess();
}

DriverResult VulkanQueue::getElapsed(float *milliseconds) {
  uint64_t ticks[2] = {0, 0};
  if (VkResult result = vk.GetQueryPoolResults(
          context.device, queries, 0, 2, sizeof(ticks), ticks, sizeof(uint64_t),
          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT))
    return toResult("vkGetQueryPoolResults", result);
  uint64_t elapsed = ticks[1] - ticks[0];
  if (context.timestampBits < 64)
    elapsed &= (uint64_t(1) << context.timestampBits) - 1;
  const VkPhysicalDeviceLimits &limits =
      context.capabilities.properties.properties.limits;
  *milliseconds = static_cast<float>(static_cast<double>(elapsed) *
                                     limits.timestampPeriod * 1e-6);
  return vulkanSuccess();
}
