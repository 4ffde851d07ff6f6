//===- PlantedFaultTest.cpp - Faults for tests of verification ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/PlantedFault.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::execution;
using tessera::runtime::ElementType;
using tessera::runtime::HostArray;

namespace {

/// 4 rows of 3 elements: 1, 2, 3, ...
HostArray makeRows(ElementType type) {
  HostArray array = HostArray::create(type, {4, 3}).take();
  for (int64_t i = 0; i < 12; ++i)
    array.setDouble(i, static_cast<double>(i + 1));
  return array;
}

TEST(PlantedFaultTest, ChangesOneElement) {
  for (ElementType type : {ElementType::F32, ElementType::I8}) {
    HostArray array = makeRows(type), before = array;
    EXPECT_EQ(plant(PlantedFault::Element, array), "element 6");
    for (int64_t i = 0; i < 12; ++i)
      EXPECT_EQ(array.getDouble(i) != before.getDouble(i), i == 6) << i;
  }
}

// A zero may be what is left of large terms.
TEST(PlantedFaultTest, ChangesAZeroByTheLargestElement) {
  HostArray array = makeRows(ElementType::F32);
  array.setDouble(6, 0);
  EXPECT_EQ(plant(PlantedFault::Element, array), "element 6");
  EXPECT_EQ(array.getDouble(6), 13);
}

// Bounds of an error may permit every number where all are zero.
TEST(PlantedFaultTest, ChangesOneOfZerosToNaN) {
  HostArray zeros = HostArray::create(ElementType::F16, {4, 3}).take();
  EXPECT_EQ(plant(PlantedFault::Element, zeros), "element 6");
  EXPECT_TRUE(std::isnan(zeros.getDouble(6)));
  HostArray integers = HostArray::create(ElementType::I32, {4, 3}).take();
  EXPECT_EQ(plant(PlantedFault::Element, integers), "element 6");
  EXPECT_EQ(integers.getDouble(6), 1);
}

TEST(PlantedFaultTest, ClearsARow) {
  HostArray array = makeRows(ElementType::F16);
  EXPECT_EQ(plant(PlantedFault::ZeroRow, array), "row 2 is zero");
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(array.getDouble(i), i / 3 == 2 ? 0 : static_cast<double>(i + 1));
}

TEST(PlantedFaultTest, SwapsRows) {
  HostArray array = makeRows(ElementType::BF16);
  EXPECT_EQ(plant(PlantedFault::SwappedRows, array),
            "rows 0 and 2 are swapped");
  EXPECT_EQ(array.getDouble(0), 7);
  EXPECT_EQ(array.getDouble(8), 3);
  EXPECT_EQ(array.getDouble(4), 5);
}

// A fault that changes nothing would not test anything.
TEST(PlantedFaultTest, FallsBackToAnElement) {
  HostArray zeros = HostArray::create(ElementType::F32, {4, 3}).take();
  EXPECT_EQ(plant(PlantedFault::ZeroRow, zeros), "element 6");
  EXPECT_NE(zeros.getDouble(6), 0);
  HostArray empty = HostArray::create(ElementType::F32, {0, 3}).take();
  EXPECT_EQ(plant(PlantedFault::Element, empty), "");
}

} // namespace
