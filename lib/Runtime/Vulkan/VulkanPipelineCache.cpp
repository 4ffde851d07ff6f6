//===- VulkanPipelineCache.cpp - Compiled pipelines on disk ---------------===//

#include "VulkanPipelineCache.h"

#include "../Format.h"

#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tessera::runtime;

static constexpr char heading[] = "tessera pipelines 1\n";
static constexpr char suffix[] = ".pipelines";
/// A file that has grown beyond is begun anew.
static constexpr size_t maxBytes = 64 << 20;

static uint64_t getChecksum(const char *data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3;
  return hash;
}

static std::string toHex(const uint8_t *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += format("%02x", bytes[i]);
  return text;
}

static std::string getHead(const std::string &data) {
  std::string head = heading;
  uint64_t sum = getChecksum(data.data(), data.size());
  for (int i = 0; i < 8; ++i)
    head += static_cast<char>(sum >> (8 * i) & 0xff);
  return head;
}

/// What a file of pipelines holds; empty if there is none. `why` says what is
/// wrong with one that cannot be used.
static std::string readFile(const std::string &path, std::string &why) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    if (errno != ENOENT)
      why = std::strerror(errno);
    return "";
  }
  struct stat about = {};
  std::string text;
  if (::fstat(file, &about) || !S_ISREG(about.st_mode))
    why = "it is no file";
  else if (about.st_uid != ::geteuid())
    why = "it belongs to another user";
  else if (about.st_size > static_cast<off_t>(2 * maxBytes))
    why = "it is too long";
  if (why.empty()) {
    text.resize(static_cast<size_t>(about.st_size));
    size_t done = 0;
    while (done < text.size()) {
      ssize_t part = ::read(file, &text[done], text.size() - done);
      if (part <= 0)
        break;
      done += static_cast<size_t>(part);
    }
    text.resize(done);
  }
  ::close(file);
  if (!why.empty())
    return "";
  size_t headBytes = std::strlen(heading) + 8;
  if (text.size() >= headBytes) {
    std::string data = text.substr(headBytes);
    if (text.compare(0, headBytes, getHead(data)) == 0)
      return data;
  }
  why = "its checksum is not right";
  return "";
}

Status PipelineCache::open(const VulkanFunctions &vk, VkDevice device,
                           const std::string &where,
                           const VkPhysicalDeviceProperties &properties,
                           const VkPhysicalDeviceVulkan11Properties &identity) {
  if (cache && directory == where)
    return Status::success();
  close(vk, device);
  directory = where;
  prefix = "vulkan-" + toHex(identity.deviceUUID, VK_UUID_SIZE) + "-";
  name = prefix + format("%x-", properties.driverVersion) +
         toHex(properties.pipelineCacheUUID, VK_UUID_SIZE) + suffix;
  std::string why;
  saved = readFile(directory + "/" + name, why);
  auto info = make<VkPipelineCacheCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  info.initialDataSize = saved.size();
  info.pInitialData = saved.data();
  if (VkResult result = vk.CreatePipelineCache(device, &info, nullptr, &cache))
    return Status(StatusCode::Internal,
                  describeVulkan("vkCreatePipelineCache", result));
  if (why.empty())
    return Status::success();
  return Status(StatusCode::Internal,
                directory + "/" + name + ": " + why + "; it is made anew");
}

Status PipelineCache::save(const VulkanFunctions &vk, VkDevice device) {
  if (!cache)
    return Status::success();
  size_t bytes = 0;
  VkResult result = vk.GetPipelineCacheData(device, cache, &bytes, nullptr);
  std::string data(bytes, '\0');
  if (!result && bytes)
    result = vk.GetPipelineCacheData(device, cache, &bytes, &data[0]);
  if (result)
    return Status(StatusCode::Internal,
                  describeVulkan("vkGetPipelineCacheData", result));
  data.resize(bytes);
  if (data == saved || data.size() > maxBytes)
    return Status::success();
  std::string path = directory + "/" + name;
  std::string own =
      path + format(".%ld.unfinished", static_cast<long>(getpid()));
  auto fail = [&](const char *what) {
    Status status(StatusCode::Internal,
                  std::string(what) + " " + own + ": " + std::strerror(errno));
    ::unlink(own.c_str());
    return status;
  };
  int file =
      ::open(own.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return fail("cannot create");
  std::string text = getHead(data) + data;
  size_t done = 0;
  while (done < text.size()) {
    ssize_t part = ::write(file, text.data() + done, text.size() - done);
    if (part <= 0)
      break;
    done += static_cast<size_t>(part);
  }
  if (::close(file) || done < text.size())
    return fail("cannot write");
  if (std::rename(own.c_str(), path.c_str()))
    return fail("cannot rename");
  saved = std::move(data);
  if (DIR *folder = ::opendir(directory.c_str())) {
    while (dirent *entry = ::readdir(folder)) {
      std::string other = entry->d_name;
      bool isOlder = other.compare(0, prefix.size(), prefix) == 0 &&
                     other.size() > std::strlen(suffix) &&
                     other.compare(other.size() - std::strlen(suffix),
                                   std::string::npos, suffix) == 0 &&
                     other != name;
      if (isOlder)
        ::unlink((directory + "/" + other).c_str());
    }
    ::closedir(folder);
  }
  return Status::success();
}

void PipelineCache::close(const VulkanFunctions &vk, VkDevice device) {
  if (cache)
    vk.DestroyPipelineCache(device, cache, nullptr);
  cache = VK_NULL_HANDLE;
}
