//===- RooflineTest.cpp - The limits of a matmul --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Roofline.h"

#include "TargetInfo/Peaks.h"

#include <gtest/gtest.h>

using namespace tessera::execution;

namespace {

class RooflineTest : public ::testing::Test {
protected:
  RooflineTest() { matmul.rateType = "f16"; }

  /// The JSON object for a matmul of this work.
  llvm::json::Object explain(const MatmulWork *work) {
    text.clear();
    llvm::raw_string_ostream os(text);
    llvm::json::Object object;
    explainRoof(matmul, work, *compiler::findChip("cuda", "sm_90a"),
                /*device=*/nullptr, os, object);
    return object;
  }

  static MatmulWork makeWork(double operations, double bytes) {
    MatmulWork work;
    work.operations = operations;
    work.bytes = bytes;
    return work;
  }

  compiler::MatmulReport matmul;
  std::string text;
};

TEST_F(RooflineTest, IsLimitedByMemoryBelowTheRidge) {
  std::string why;
  auto roof = compiler::findRoof("sm_90a", "", 0, 0, "f16", why);
  ASSERT_TRUE(roof && roof->bytes > 0) << why;
  // Half the intensity of the ridge: half the rate.
  double bytes = 1e9, operations = bytes * roof->operations / roof->bytes / 2;
  MatmulWork work = makeWork(operations, bytes);
  llvm::json::Object object = explain(&work);
  const llvm::json::Object *found = object.getObject("roof");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->getString("limited_by"), "memory");
  EXPECT_NEAR(*found->getNumber("attainable_per_s"), roof->operations / 2,
              1e-6 * roof->operations);
  EXPECT_NEAR(*found->getNumber("least_ms"), bytes / roof->bytes * 1e3, 1e-9);
  EXPECT_NE(text.find("by its memory"), std::string::npos) << text;
}

TEST_F(RooflineTest, IsLimitedByArithmeticAboveTheRidge) {
  std::string why;
  auto roof = compiler::findRoof("sm_90a", "", 0, 0, "f16", why);
  ASSERT_TRUE(roof && roof->bytes > 0) << why;
  double bytes = 1e6, operations = bytes * roof->operations / roof->bytes * 3;
  MatmulWork work = makeWork(operations, bytes);
  llvm::json::Object object = explain(&work);
  const llvm::json::Object *found = object.getObject("roof");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->getString("limited_by"), "arithmetic");
  EXPECT_EQ(found->getNumber("attainable_per_s"), roof->operations);
  EXPECT_NEAR(*object.getObject("work")->getNumber("operations_per_byte"),
              operations / bytes, 1e-9);
}

TEST_F(RooflineTest, GivesReasonsWithoutWork) {
  llvm::json::Object hidden = explain(nullptr);
  EXPECT_EQ(hidden.getString("roof_unknown"),
            "it is not one op on whole arrays in the entry");
  MatmulWork unknown;
  llvm::json::Object open = explain(&unknown);
  EXPECT_EQ(open.getString("roof_unknown"), "its sizes are dynamic");
  EXPECT_FALSE(open.getObject("roof"));
}

} // namespace
