//===- VulkanQueue.h - Recording and submitting commands --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work is recorded to a command buffer, with a barrier after each step, and is
// submitted when the caller waits or when the buffer is long. Work for a queue
// of the caller has command buffers of its own, and is submitted when the call
// ends.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANQUEUE_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANQUEUE_H

#include "VulkanMemory.h"

namespace tessera::runtime {

class VulkanQueue {
public:
  VulkanQueue(const VulkanContext &context, VulkanMemory &memory)
      : context(context), vk(context.vk), memory(memory) {}

  /// Creates the command pool, the queries and the first submission.
  DriverResult create();
  void destroy();

  // Recording. `begin` precedes each command, and `addBarrier` follows it.

  /// Makes the command buffer ready for more commands.
  DriverResult begin(unsigned count = 1);
  VkCommandBuffer commands() const { return current->commands; }
  /// Makes the effects of earlier launches, copies and fills visible to later
  /// ones.
  void addBarrier() { addBarrier(current->commands); }
  /// Records a copy between two buffers.
  DriverResult copy(const VulkanBuffer &from, VkDeviceSize fromOffset,
                    const VulkanBuffer &to, VkDeviceSize toOffset,
                    VkDeviceSize bytes);
  /// Records a launch with these push constants to the command buffer or to a
  /// secondary one, with the barrier.
  void recordLaunch(VkCommandBuffer to, VkPipeline pipeline,
                    VkPipelineLayout layout, const void *pushed, uint32_t bytes,
                    const uint32_t (&grid)[3]);
  /// Submits the recorded commands and waits for them.
  DriverResult finish();
  /// Drops the recorded commands.
  void discard() {
    recording = false;
    ++current->completed;
  }

  /// Memory for the parameters of one launch, which this begins.
  struct Parameters {
    char *mapped = nullptr;
    uint64_t address = 0;
  };
  DriverResult takeParameters(VkDeviceSize bytes, Parameters &parameters);
  /// The most bytes that a launch in the current queue can have.
  VkDeviceSize getMaxParameterBytes() const {
    return current->parameters.bytes;
  }

  // Secondary command buffers, which the recorded commands execute.

  DriverResult allocateSecondary(VkCommandBuffer &secondary);
  void freeCommands(VkCommandBuffer secondary);
  DriverResult beginSecondary(VkCommandBuffer secondary);
  DriverResult endSecondary(VkCommandBuffer secondary);
  /// Records a copy between addresses to a secondary command buffer, with the
  /// barrier. Fails if they are not in known buffers.
  DriverResult recordCopy(VkCommandBuffer secondary, void *to, const void *from,
                          size_t bytes);
  /// The last submission that executes a secondary command buffer.
  class Use;
  /// Records that a secondary command buffer of `count` commands is executed.
  DriverResult execute(VkCommandBuffer secondary, unsigned count, Use &use);
  /// Whether that submission has not been recorded to its end, or has not run.
  bool isUnderWay(const Use &use);
  DriverResult await(const Use &use);

  // Queues of the caller.
  //
  // The pool gives memory out again while work that uses it is under way, which
  // is correct within one queue. Before another queue uses it, the host waits:
  // a device of the caller need not have timeline semaphores.

  /// Directs the commands to a queue of the caller.
  DriverResult enter(VkQueue theirs);
  /// Submits the commands to that queue, and returns to the own queue.
  /// `usesPool`: the commands may use memory that the pool gives out again.
  DriverResult leave(bool usesPool);
  bool isInQueue() const { return isCallers; }
  /// The calls of vkQueueSubmit with commands.
  uint64_t countSubmissions() const { return numSubmitted; }
  /// Keeps memory of the pool until the earlier work of `theirs` has run.
  DriverResult guardPool(VkQueue theirs);
  /// Waits for the use of pool memory in queues other than `queue`; for all
  /// work if `queue` is null.
  DriverResult awaitOthers(VkQueue queue);

  // Time.

  DriverResult recordBegin();
  DriverResult recordEnd();
  DriverResult getElapsed(float *milliseconds);

private:
  /// A command buffer and what it needs until it has run.
  struct Submission {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    /// Parameters of the recorded launches.
    VulkanBuffer parameters;
    VkDeviceSize used = 0;
    /// The queue that it was submitted to, until it is known to have run.
    VkQueue queue = VK_NULL_HANDLE;
    /// Whether it may use memory of the pool.
    bool usesPool = false;
    /// How often its commands have run or were dropped.
    uint64_t completed = 0;
  };

  DriverResult createSubmission(VkDeviceSize parameterBytes,
                                Submission &submission);
  void destroySubmission(Submission &submission);
  /// A submission for a queue of the caller; waits for one if too many are
  /// under way.
  DriverResult takeSubmission(Submission *&taken);
  /// Waits for a submission that is under way.
  DriverResult await(Submission &submission);
  /// Submits the recorded commands to the current queue.
  DriverResult submit();
  void addBarrier(VkCommandBuffer to);
  /// The same for all that the host and other submissions do: once at each end
  /// of a submission.
  void addOuterBarrier();

  const VulkanContext &context;
  const VulkanFunctions &vk;
  VulkanMemory &memory;
  VkQueue ownQueue = VK_NULL_HANDLE;
  /// The current queue: `ownQueue`, or one of the caller.
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool commandPool = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;
  /// The submission of the own queue, and those of the caller's queues in the
  /// order of their last use.
  Submission own;
  std::vector<std::unique_ptr<Submission>> callers;
  Submission *current = &own;
  bool isCallers = false;
  bool recording = false;
  unsigned numRecorded = 0;
  uint64_t numSubmitted = 0;
};

class VulkanQueue::Use {
  friend class VulkanQueue;
  Submission *submission = nullptr;
  /// Its `completed` while it was recorded.
  uint64_t number = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANQUEUE_H
