//===- OutputStatisticsTest.cpp - How far outputs are off -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/OutputStatistics.h"
#include "ProgramTest.h"

#include <cmath>

using namespace tessera::execution;

namespace {

class OutputStatisticsTest : public ProgramTest {
protected:
  /// A row of f32, as an output and as the reference takes it.
  Output makeOutput(std::initializer_list<double> values) {
    Output output;
    output.name = "result 0";
    auto size = static_cast<int64_t>(values.size());
    output.array =
        runtime::HostArray::create(runtime::ElementType::F32, {1, size}).take();
    int64_t i = 0;
    for (double value : values)
      output.array.setDouble(i++, value);
    output.type = mlir::RankedTensorType::get({1, size},
                                              mlir::Float32Type::get(&context));
    return output;
  }
  compiler::reference::Array convert(const Output &output) {
    Report report = Report::makeQuiet();
    return *toReference(output.array, output.type, "--verify", report);
  }
};

TEST_F(OutputStatisticsTest, DescribesDifferences) {
  Output output = makeOutput({1, 2.5, NAN, 4, 5});
  Output expected = makeOutput({1, 2, 3, 4, INFINITY});
  auto comparison =
      compiler::reference::compare(convert(output), convert(expected));
  llvm::json::Object object = describeStatistics(
      comparison, output, {"computed", "in the reference", 2});
  EXPECT_EQ(object.getBoolean("passed"), false);
  EXPECT_EQ(object.getInteger("checked"), 5);
  EXPECT_EQ(object.getInteger("mismatches"), 3);
  EXPECT_EQ(object.getNumber("max_abs_error"), 0.5);
  EXPECT_EQ(object.getNumber("max_rel_error"), 0.25);
  EXPECT_EQ(object.getInteger("nans_computed"), 1);
  EXPECT_EQ(object.getInteger("nans_expected"), 0);
  EXPECT_EQ(object.getInteger("infinities_expected"), 1);
  EXPECT_EQ(object.getInteger("never_written"), 2);
  const llvm::json::Object *first = object.getObject("first");
  ASSERT_TRUE(first);
  EXPECT_EQ((*first->getArray("at"))[1].getAsInteger(), 1);
  EXPECT_EQ(first->getNumber("got"), 2.5);
  EXPECT_EQ(first->getNumber("expected"), 2.0);
}

TEST_F(OutputStatisticsTest, PrintsBothSides) {
  Output output = makeOutput({1, NAN});
  Output expected = makeOutput({1, 2});
  auto comparison =
      compiler::reference::compare(convert(output), convert(expected));
  std::string text;
  llvm::raw_string_ostream os(text);
  printStatistics(comparison, output, {"with cuda", "with cpu", std::nullopt},
                  os);
  EXPECT_NE(text.find("NaN: 1 with cuda, 0 with cpu"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("never written"), std::string::npos) << text;
}

TEST_F(OutputStatisticsTest, FormatsPositions) {
  EXPECT_EQ(formatPosition({3, 0, 12}), "[3, 0, 12]");
  EXPECT_EQ(formatPosition({}), "[]");
}

} // namespace
