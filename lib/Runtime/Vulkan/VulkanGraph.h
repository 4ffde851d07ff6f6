//===- VulkanGraph.h - Commands that are recorded once ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vulkan has no graphs of launches. The steps of a graph are recorded to a
// secondary command buffer, which the command buffer of each run executes. The
// parameters of launches lie in memory of the graph's own, and can be changed
// while no submission that executes the graph is under way.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANGRAPH_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANGRAPH_H

#include "VulkanQueue.h"

namespace tessera::runtime {

class VulkanGraph {
public:
  VulkanGraph(VulkanQueue &queue, VulkanMemory &memory, VkPipelineLayout layout)
      : queue(queue), memory(memory), layout(layout) {}
  /// Waits for the submissions that execute the graph.
  ~VulkanGraph();
  VulkanGraph(const VulkanGraph &) = delete;
  VulkanGraph &operator=(const VulkanGraph &) = delete;

  /// Adds a launch with the parameters of a request, or a copy. `isPushed`:
  /// they are the push constants, rather than their address.
  void addLaunch(VkPipeline pipeline, bool isPushed,
                 const LaunchRequest &request);
  void addCopy(void *to, const void *from, size_t bytes);
  size_t size() const { return steps.size(); }

  /// Makes the objects of Vulkan and records the steps.
  DriverResult create();
  /// Change a step, after waiting for the submissions that execute the graph.
  DriverResult setLaunch(size_t step, const LaunchRequest &request);
  DriverResult setCopy(size_t step, void *to, const void *from, size_t bytes);
  /// Whether a launch would have to wait for an earlier one, with steps that
  /// are changed before it or not.
  bool mustWait(bool isChanged);
  /// Has the current queue execute the steps.
  DriverResult launch();

private:
  struct Step {
    /// Null for a copy.
    VkPipeline pipeline = VK_NULL_HANDLE;
    uint32_t grid[3] = {};
    /// The offset of its parameters, and their size where they are pushed.
    VkDeviceSize parameters = 0;
    uint32_t pushedBytes = 0;
    void *to = nullptr;
    const void *from = nullptr;
    size_t bytes = 0;
  };

  void setStep(Step &step, const LaunchRequest &request);
  void recordLaunch(const Step &step);
  /// Records all steps anew.
  DriverResult record();
  /// Whether the recorded commands are not those of the steps.
  bool isStale() const {
    return !isRecorded || (hasCopies && buffersThen != memory.countReleases());
  }

  VulkanQueue &queue;
  VulkanMemory &memory;
  VkPipelineLayout layout;
  std::vector<Step> steps;
  /// The contents of the memory of the parameters, 8 bytes each.
  std::vector<uint64_t> values;
  VulkanBuffer parameters;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VulkanQueue::Use use;
  bool isRecorded = false;
  /// Copies name buffers, which may have been freed since: `countReleases` at
  /// the time of the recording.
  bool hasCopies = false;
  uint64_t buffersThen = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANGRAPH_H
