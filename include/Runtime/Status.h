//===- Status.h - Outcome of a runtime call ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime reports errors by value and throws nothing. A `Status` is a code
// that a program can act on and one line of text for a person. `Expected<T>`
// is either a value or the status with the reason why there is none.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_STATUS_H
#define TESSERA_RUNTIME_STATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace tessera::runtime {

/// The kind of failure of a `Status`.
enum class StatusCode {
  /// The call succeeded.
  Ok,
  /// The device, or the driver that it needs, is not on this machine.
  NoDevice,
  /// The device has too little free memory; the message has both sizes.
  OutOfMemory,
  /// The driver rejected a kernel image; the message contains the driver's log.
  Rejected,
  /// The driver rejected a launch, or a kernel failed while it ran.
  LaunchFailed,
  /// The caller's request cannot be right: unknown kernel, sizes beyond the
  /// device's limits, a malformed file.
  InvalidArgument,
  /// Anything else, such as an unexpected error of the driver.
  Internal,
};

/// The name of a code, as in "InvalidArgument".
const char *statusCodeName(StatusCode code);

/// Success, or a code and a message. The message is one line that names the
/// cause; lines after the first are notes (a driver's log, for example).
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  /// A failure. `code` is not `Ok`.
  Status(StatusCode code, std::string message)
      : codeValue(code), text(std::move(message)) {
    assert(code != StatusCode::Ok && "a failure must have an error code");
  }

  static Status success() { return Status(); }

  bool ok() const { return codeValue == StatusCode::Ok; }
  StatusCode code() const { return codeValue; }
  /// Empty for success.
  const std::string &message() const { return text; }

private:
  StatusCode codeValue = StatusCode::Ok;
  std::string text;
};

/// A `T`, or the reason why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::move(value)) {}
  /// `status` is a failure.
  Expected(Status status) : reason(std::move(status)) {
    assert(!reason.ok() && "success without a value");
  }

  bool ok() const { return storage.has_value(); }
  /// Success when there is a value.
  const Status &status() const { return reason; }

  /// The value; only when `ok()`.
  T &operator*() { return value(); }
  const T &operator*() const { return value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }
  T take() { return std::move(value()); }

private:
  T &value() {
    assert(storage && "no value: check ok() first");
    return *storage;
  }
  const T &value() const {
    assert(storage && "no value: check ok() first");
    return *storage;
  }

  std::optional<T> storage;
  Status reason;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_STATUS_H
