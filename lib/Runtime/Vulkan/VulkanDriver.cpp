//===- VulkanDriver.cpp - Finding Vulkan's loader -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VulkanDriver.h"

#include "../DriverLibrary.h"

#include "Runtime/Vulkan.h"

#include <atomic>
#include <cstdio>

using namespace tessera::runtime;

static std::string getResultName(VkResult result) {
  switch (result) {
#define TESSERA_NAME(name)                                                     \
  case name:                                                                   \
    return #name;
    TESSERA_NAME(VK_SUCCESS)
    TESSERA_NAME(VK_NOT_READY)
    TESSERA_NAME(VK_TIMEOUT)
    TESSERA_NAME(VK_INCOMPLETE)
    TESSERA_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    TESSERA_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    TESSERA_NAME(VK_ERROR_INITIALIZATION_FAILED)
    TESSERA_NAME(VK_ERROR_DEVICE_LOST)
    TESSERA_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    TESSERA_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    TESSERA_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    TESSERA_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    TESSERA_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    TESSERA_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    TESSERA_NAME(VK_ERROR_FRAGMENTED_POOL)
    TESSERA_NAME(VK_ERROR_UNKNOWN)
    TESSERA_NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    TESSERA_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
    TESSERA_NAME(VK_PIPELINE_COMPILE_REQUIRED)
#undef TESSERA_NAME
  default:
    return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

std::string tessera::runtime::describeVulkan(const char *call,
                                             VkResult result) {
  return std::string(call) + ": " + getResultName(result);
}

static VulkanSettings vulkanSettings;
static std::atomic<unsigned> validationErrors = 0;

void tessera::runtime::setVulkanSettings(const VulkanSettings &settings) {
  vulkanSettings = settings;
}

const VulkanSettings &tessera::runtime::getVulkanSettings() {
  return vulkanSettings;
}

unsigned tessera::runtime::countVulkanValidationErrors() {
  return validationErrors;
}

/// Prints what the validation layer has found.
static VKAPI_ATTR VkBool32 VKAPI_CALL
report(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
       VkDebugUtilsMessageTypeFlagsEXT,
       const VkDebugUtilsMessengerCallbackDataEXT *data, void *) {
  bool isError = severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  if (isError)
    ++validationErrors;
  std::fprintf(stderr, "vulkan validation: %s: %s\n",
               isError ? "error" : "warning", data->pMessage);
  return VK_FALSE;
}

std::string tessera::runtime::findVulkanFunctions(PFN_vkGetInstanceProcAddr get,
                                                  VkInstance instance,
                                                  VulkanDriver &driver) {
  if (!get) {
    // Where the caller has made an instance, it is loaded.
    void *library = nullptr;
    std::string why;
    if (openDriverLibrary("libvulkan.so.1", library, why) !=
            DriverLibraryState::Loaded ||
        !findDriverFunction(library, "vkGetInstanceProcAddr", get))
      return "libvulkan.so.1 for it (pass getInstanceProcAddr)";
  }
  driver.instance = instance;
  std::string missing;
#define TESSERA_FIND(name)                                                     \
  driver.name = reinterpret_cast<PFN_vk##name>(get(instance, "vk" #name));     \
  if (!driver.name && missing.empty())                                         \
    missing = "vk" #name;
  TESSERA_VULKAN_INSTANCE_FUNCTIONS(TESSERA_FIND)
#undef TESSERA_FIND
  driver.GetCooperativeMatrixProperties =
      reinterpret_cast<PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
          get(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  return missing;
}

namespace {
struct LoadedVulkanDriver {
  VulkanDriver driver;
  std::string reason;

  LoadedVulkanDriver() {
    void *library = nullptr;
    openDriverLibrary("libvulkan.so.1", library, reason);
    if (!library)
      return;
    PFN_vkGetInstanceProcAddr get = nullptr;
    findDriverFunction(library, "vkGetInstanceProcAddr", get);
    auto create = get ? reinterpret_cast<PFN_vkCreateInstance>(
                            get(nullptr, "vkCreateInstance"))
                      : nullptr;
    if (!create) {
      reason = "libvulkan.so.1 does not export vkCreateInstance";
      return;
    }
    auto application =
        make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.pApplicationName = "Tessera";
    application.apiVersion = VK_API_VERSION_1_3;
    auto info =
        make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    const char *layers[] = {"VK_LAYER_KHRONOS_validation"};
    const char *extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    auto messenger = make<VkDebugUtilsMessengerCreateInfoEXT>(
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
    messenger.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = report;
    if (vulkanSettings.validates) {
      info.enabledLayerCount = 1;
      info.ppEnabledLayerNames = layers;
      info.enabledExtensionCount = 1;
      info.ppEnabledExtensionNames = extensions;
      info.pNext = &messenger;
    }
    if (VkResult result = create(&info, nullptr, &driver.instance)) {
      reason = describeVulkan("vkCreateInstance", result);
      if (result == VK_ERROR_LAYER_NOT_PRESENT)
        reason += std::string(": ") + layers[0] +
                  " is not installed (Debian: vulkan-validationlayers)";
      if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
        reason += ": libvulkan.so.1 does not find a driver; set "
                  "VK_DRIVER_FILES to a driver's .json file";
      return;
    }
    std::string missing = findVulkanFunctions(get, driver.instance, driver);
    if (!missing.empty())
      reason = "libvulkan.so.1 does not export " + missing +
               ": it is older than Vulkan 1.3";
    if (!vulkanSettings.validates)
      return;
    auto createMessenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        get(driver.instance, "vkCreateDebugUtilsMessengerEXT"));
    VkDebugUtilsMessengerEXT made = VK_NULL_HANDLE;
    if (!createMessenger ||
        createMessenger(driver.instance, &messenger, nullptr, &made))
      reason = "the validation layer cannot report its findings "
               "(VK_EXT_debug_utils is missing)";
  }
};
} // namespace

const VulkanDriver *tessera::runtime::getVulkanDriver(std::string *why) {
  return getLoadedDriver<LoadedVulkanDriver>(why);
}
