//===- IntelLayoutTest.cpp - Intel's table against its extensions ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_INTEL_subgroup_matrix_multiply_accumulate, section "Mapping Matrix Data
// to Invocations", defines in text which invocation passes which elements, and
// gives examples with tables. The text is a function here, the examples are
// data with which the function is compared, and the rows are compared with the
// function. None of this is shared with the table.
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir::tessera;

namespace {

using Position = std::pair<int64_t, int64_t>;
/// The elements that an invocation passes: positions in the matrix, from the
/// lower-numbered components of the vector to the higher ones, and within each
/// from its lower bits to its upper ones.
using Contribution = std::vector<Position>;

/// For matrix A, M rows by K columns, N invocations. Empty: it is ignored.
Contribution passA(int64_t m, int64_t k, int64_t n, int64_t invocation) {
  Contribution passed;
  if (n <= k) {
    // "each invocation contributes multiple columns of Matrix A. The multiple
    // columns are packed into a single value per row, with data from the
    // lower-numbered columns in the lower bits of the value."
    int64_t columns = k / n;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t i = 0; i < columns; ++i)
        passed.push_back({row, invocation * columns + i});
    return passed;
  }
  // "each invocation contributes every other row of a single column of Matrix
  // A, with the lower-numbered invocations contributing the first row"
  int64_t times = n / k;
  for (int64_t row = invocation / k; row < m; row += times)
    passed.push_back({row, invocation % k});
  return passed;
}

/// Rules for matrix B, and for C and the result: "a single column ... with the
/// lower-numbered invocations passing the lower-numbered columns", its "rows
/// passed as the lower-numbered components of the vector, and lowered-numbered
/// rows passed as the lower-numbered bits of each value".
Contribution passColumn(int64_t rows, int64_t invocation) {
  Contribution passed;
  for (int64_t row = 0; row < rows; ++row)
    passed.push_back({row, invocation});
  return passed;
}

/// "0,1 | 0,0 and 1,1 | 1,0": as the examples write it, where the lower bits
/// stand to the right of the bar.
Contribution parse(llvm::StringRef text) {
  Contribution passed;
  for (llvm::StringRef value : llvm::split(text, " and ")) {
    Contribution parts;
    for (llvm::StringRef part : llvm::split(value, " | ")) {
      auto [row, column] = part.split(',');
      Position position;
      EXPECT_FALSE(row.getAsInteger(10, position.first) ||
                   column.getAsInteger(10, position.second))
          << text.str();
      parts.push_back(position);
    }
    passed.insert(passed.end(), parts.rbegin(), parts.rend());
  }
  return passed;
}

TEST(IntelLayoutTest, FunctionsAgreeWithTheExamples) {
  auto a = [](int64_t m, int64_t k, int64_t n,
              std::vector<const char *> examples) {
    for (auto [invocation, text] : llvm::enumerate(examples))
      EXPECT_EQ(passA(m, k, n, invocation), text ? parse(text) : Contribution())
          << m << "x" << k << " by " << n << ", invocation " << invocation;
  };
  // "Passing Matrix A with M equal to two, K equal to four, and N equal to
  // four", and the three examples after it.
  a(2, 4, 4, {"0,0 and 1,0", "0,1 and 1,1", "0,2 and 1,2", "0,3 and 1,3"});
  a(2, 8, 4,
    {"0,1 | 0,0 and 1,1 | 1,0", "0,3 | 0,2 and 1,3 | 1,2",
     "0,5 | 0,4 and 1,5 | 1,4", "0,7 | 0,6 and 1,7 | 1,6"});
  a(4, 2, 4, {"0,0 and 2,0", "0,1 and 2,1", "1,0 and 3,0", "1,1 and 3,1"});
  a(1, 2, 4, {"0,0", "0,1", nullptr, nullptr});
  // "Passing Matrix B with K equal to eight, N equal to four, and 8-bit data",
  // its 16-bit and 32-bit neighbours, and matrix C.
  EXPECT_EQ(passColumn(8, 1),
            parse("3,1 | 2,1 | 1,1 | 0,1 and 7,1 | 6,1 | 5,1 | 4,1"));
  EXPECT_EQ(passColumn(4, 2), parse("1,2 | 0,2 and 3,2 | 2,2"));
  EXPECT_EQ(passColumn(2, 3), parse("0,3 and 1,3"));
  EXPECT_NE(passColumn(4, 2), parse("0,2 | 1,2 and 2,2 | 3,2"));
}

// cl_intel_subgroup_matrix_multiply_accumulate, "Coding Sample": element i of
// `as_char4(sub_group_broadcast(v, j))` meets element i of `as_char4(b.sj)`,
// for 8 work items and K of 32.
TEST(IntelLayoutTest, TheCodingSampleMultipliesTheSameElements) {
  for (int64_t j = 0; j < 8; ++j)
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t row : {0, 1})
        EXPECT_EQ(passA(2, 32, 8, j)[row * 4 + i].second,
                  passColumn(32, 5)[j * 4 + i].first);
}

void compare(const LaneMap &map, int64_t lanes,
             llvm::function_ref<Contribution(int64_t)> pass) {
  ASSERT_EQ(map.getNumLanes(), lanes);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Contribution passed = pass(lane);
    // An ignored value is arbitrary; here it repeats.
    if (passed.empty()) {
      EXPECT_NE(map.getReplicatedLaneBits(), 0);
      continue;
    }
    ASSERT_EQ(map.getNumRegisters(), static_cast<int64_t>(passed.size()));
    for (auto [element, position] : llvm::enumerate(passed))
      EXPECT_EQ(map.at(lane, element), position)
          << "lane " << lane << ", element " << element;
  }
}

TEST(IntelLayoutTest, TablesAgreeWithTheFunctions) {
  std::set<std::string> seen;
  for (const Chip &chip : getAllChips()) {
    if (chip.target != "opencl")
      continue;
    int64_t lanes = chip.subgroupSize;
    for (const MatrixInstruction &row : chip.instructions) {
      if (!row.matrixUnit || row.opaque)
        continue;
      SCOPED_TRACE(chip.name + " " + row.name);
      seen.insert(row.name);
      // "The N dimension ... is implicitly the number of invocations".
      EXPECT_EQ(row.n, lanes);
      {
        SCOPED_TRACE("a");
        compare(row.aMap, lanes,
                [&](int64_t lane) { return passA(row.m, row.k, lanes, lane); });
      }
      {
        SCOPED_TRACE("b");
        compare(row.bMap, lanes,
                [&](int64_t lane) { return passColumn(row.k, lane); });
      }
      SCOPED_TRACE("c");
      compare(row.accMap, lanes,
              [&](int64_t lane) { return passColumn(row.m, lane); });
    }
  }
  EXPECT_EQ(seen.size(), 5u * 4 + 3u * 4);
}

// The tables of cl_intel_subgroup_matrix_multiply_accumulate, section 5.2.X,
// for 8 and for 16 work items; tf32 of its own extension.
TEST(IntelLayoutTest, ChipsHaveWhatTheExtensionLists) {
  const std::map<std::string, std::set<std::string>> kinds = {
      {"pvc",
       {"k16.f32.f16", "k16.f16.f16", "k16.f32.bf16", "k8.f32.tf32",
        "k32.i32.i8"}},
      {"bmg",
       {"k16.f32.f16", "k16.f16.f16", "k16.f32.bf16", "k8.f32.tf32",
        "k32.i32.i8"}},
      {"dg2", {"k16.f32.f16", "k16.f32.bf16", "k32.i32.i8"}}};
  for (const auto &[name, expected] : kinds) {
    SCOPED_TRACE(name);
    const Chip *chip = findChip("opencl", name);
    ASSERT_TRUE(chip);
    EXPECT_EQ(chip->subgroupSize, name == "dg2" ? 8 : 16);
    std::set<std::string> all, found;
    for (const std::string &kind : expected)
      for (int64_t m : {1, 2, 4, 8})
        all.insert("dpas.m" + std::to_string(m) + "n" +
                   std::to_string(chip->subgroupSize) + kind);
    for (const MatrixInstruction &row : chip->instructions)
      if (row.matrixUnit) {
        found.insert(row.name);
        // Both signs of i8, by the operands of the instruction.
        EXPECT_FALSE(row.signedOnly);
        EXPECT_EQ(row.tf32, row.name.find("tf32") != std::string::npos);
      }
    EXPECT_EQ(found, all);
  }
}

} // namespace
