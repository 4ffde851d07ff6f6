//===- LibraryPeer.cpp - The vendor's library on a task -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Worker/LibraryPeer.h"

#include <algorithm>
#include <cstring>

using namespace tessera::tuning;
using runtime::Expected;
using runtime::HostArray;
using runtime::Status;

/// Timed runs of a layout before one is chosen.
static constexpr int rounds = 5;

LibraryPeer::~LibraryPeer() {
  // The library may use its operands until the device has finished.
  library.reset();
  for (void *memory : transposed)
    if (memory)
      (void)device.free(memory);
}

Expected<double> LibraryPeer::time() {
  return measure([this] {
    return library->run(operands[0], operands[1],
                        data.getOperands().back().data);
  });
}

void *LibraryPeer::transpose(size_t index, int64_t rows, int64_t columns) {
  if (transposed[index])
    return transposed[index];
  const HostArray &array = (*data.getArrays())[index];
  // Types of less than a byte are not the libraries'.
  size_t width = runtime::elementBits(array.type) / 8,
         matrix = static_cast<size_t>(rows * columns) * width;
  if (matrix == 0 || array.data.size() % matrix != 0)
    return nullptr;
  std::vector<std::byte> contents(array.data.size());
  for (size_t first = 0; first < contents.size(); first += matrix)
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row)
      for (size_t column = 0; column < static_cast<size_t>(columns); ++column)
        std::memcpy(
            &contents[first +
                      (column * static_cast<size_t>(rows) + row) * width],
            &array.data[first +
                        (row * static_cast<size_t>(columns) + column) * width],
            width);
  void *memory = nullptr;
  if (!device.allocate(contents.size(), &memory).ok())
    return nullptr;
  transposed[index] = memory;
  Status status = device.copyToDevice(memory, contents.data(), contents.size());
  if (status.ok())
    // `contents` is read until then.
    status = device.synchronize();
  return status.ok() ? memory : nullptr;
}

Expected<double>
LibraryPeer::tryLayout(const runtime::LibraryMatmul &matmul,
                       const std::vector<HostArray> &expected) {
  auto prepared = prepare(matmul);
  if (!prepared.ok())
    return prepared.status();
  library = prepared.take();
  Status status = data.prepareOutputs(/*isAdded=*/false);
  if (status.ok())
    status = device.synchronize();
  if (!status.ok())
    return status;
  Expected<double> first = time();
  if (!first.ok())
    return first.status();
  std::vector<HostArray> outputs;
  status = device.synchronize();
  if (status.ok())
    status = data.readOutputs(outputs);
  if (!status.ok())
    return status;
  if (std::string wrong = compareOutputs(outputs, expected, /*isExact=*/true);
      !wrong.empty())
    return Status(runtime::StatusCode::Internal, wrong);
  double best = *first;
  for (int round = 0; round < rounds; ++round) {
    Expected<double> next = time();
    if (!next.ok())
      return next.status();
    best = round == 0 ? *next : std::min(best, *next);
  }
  return best;
}

std::string LibraryPeer::choose(const runtime::LibraryMatmul &matmul,
                                const std::vector<HostArray> &expected) {
  struct Layout {
    std::unique_ptr<runtime::VendorLibrary> library;
    std::string name;
    void *operands[2];
  };
  Layout chosen;
  double best = 0;
  std::string reason;
  const char *const suffixes[] = {"", " (A transposed)", " (B transposed)",
                                  " (A and B transposed)"};
  for (int which = 0; which < 4; ++which) {
    bool isOther[] = {(which & 1) != 0, (which & 2) != 0};
    runtime::LibraryMatmul layout = matmul;
    layout.transposedLhs ^= isOther[0];
    layout.transposedRhs ^= isOther[1];
    const int64_t outer[] = {matmul.m, matmul.n};
    const bool isTransposed[] = {matmul.transposedLhs, !matmul.transposedRhs};
    for (size_t index = 0; index < 2; ++index) {
      operands[index] = data.getOperands()[index].data;
      // The rows of what is stored run over M or N unless K does.
      if (isOther[index])
        operands[index] = isTransposed[index]
                              ? transpose(index, matmul.k, outer[index])
                              : transpose(index, outer[index], matmul.k);
    }
    if (!operands[0] || !operands[1])
      continue;
    Expected<double> found = tryLayout(layout, expected);
    if (!found.ok()) {
      if (which == 0)
        reason = (library ? library->getName() + ": " : "") +
                 found.status().message();
      library.reset();
      continue;
    }
    std::string layoutName = library->getName() + suffixes[which];
    if (!chosen.library || *found < best) {
      best = *found;
      chosen = {std::move(library),
                std::move(layoutName),
                {operands[0], operands[1]}};
    }
    library.reset();
  }
  library = std::move(chosen.library);
  if (!library)
    return reason;
  name = std::move(chosen.name);
  std::copy_n(chosen.operands, 2, operands);
  return "";
}
