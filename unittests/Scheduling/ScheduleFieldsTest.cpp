//===- ScheduleFieldsTest.cpp - The definition of schedule fields ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

class ScheduleFieldsTest : public ::testing::Test {
protected:
  ScheduleFieldsTest() { context.loadDialect<TesseraDialect>(); }

  MLIRContext context;
};

std::string printAttribute(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

/// Fields that differ from their defaults, and are legal together.
ScheduleNumbers makeUnusual() {
  ScheduleFields fields;
  fields.workgroup = {64, 32};
  fields.subgroup = {32, 16};
  fields.k = 64;
  fields.kFragment = 32;
  fields.vthread = {2, 2};
  ScheduleNumbers numbers(fields);
  // 4 is legal everywhere else.
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    if (!numbers.hasDefault(info))
      continue;
    int64_t value = std::min<int64_t>(4, info.most);
    numbers[info.number] = value;
    if (info.isPair())
      numbers[info.getSecond()] = value;
  }
  return numbers;
}

TEST_F(ScheduleFieldsTest, TheTableIsConsistent) {
  llvm::StringSet<> names;
  size_t numbers = 0;
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name.str();
    EXPECT_EQ(size_t(info.number), numbers) << info.name.str();
    EXPECT_EQ(findScheduleField(info.name), &info);
    EXPECT_EQ(&getScheduleField(info.number), &info);
    EXPECT_LE(info.least, info.most);
    EXPECT_FALSE(info.doc.empty());
    EXPECT_FALSE(info.doc.contains('\n'));
    if (info.isPair())
      EXPECT_EQ(&getScheduleField(info.getSecond()), &info);
    numbers += info.isPair() ? 2 : 1;
  }
  EXPECT_EQ(numbers, ScheduleNumbers::size);
  for (const OldScheduleFieldName &old : getOldScheduleFieldNames()) {
    EXPECT_FALSE(names.contains(old.oldName)) << old.oldName.str();
    EXPECT_TRUE(findScheduleField(getScheduleFieldName(old.oldName)));
  }
}

TEST_F(ScheduleFieldsTest, WordsAreThoseOfTheEnum) {
  const ScheduleFieldInfo *info = findScheduleField("splitKReduction");
  ASSERT_TRUE(info);
  ASSERT_EQ(info->words.size(), getMaxEnumValForSplitReduction() + 1);
  for (auto [value, word] : llvm::enumerate(info->words))
    EXPECT_EQ(word, stringifySplitReduction(SplitReduction(value)));
}

TEST_F(ScheduleFieldsTest, EachFieldIsPrintedParsedAndCompared) {
  ScheduleNumbers unusual = makeUnusual();
  ASSERT_TRUE(unusual.isValid());
  ScheduleAttr schedule = unusual.getAttr(&context);
  ASSERT_TRUE(schedule);
  std::string text = printAttribute(schedule);
  for (const ScheduleFieldInfo &info : getScheduleFields()) {
    EXPECT_NE(text.find((info.name + " = " + unusual.format(info)).str()),
              std::string::npos)
        << info.name.str() << ": " << text;
    // It distinguishes schedules.
    ScheduleNumbers other = unusual;
    other[info.number] = info.number == ScheduleField::Stages ? 2 : 1;
    if (other == unusual)
      other[info.number] = 0;
    EXPECT_NE(ScheduleAttr::get(&context, unusual.getFields()).getFields(),
              other.getFields());
    EXPECT_EQ(other.describeChange(unusual),
              (info.name + " = " + other.format(info)).str());
  }
  EXPECT_EQ(parseAttribute(text, &context), schedule);
  EXPECT_TRUE(ScheduleNumbers(schedule) == unusual);
}

TEST_F(ScheduleFieldsTest, DefaultsAreOmitted) {
  ScheduleFields fields;
  fields.workgroup = fields.subgroup = {16, 16};
  fields.k = fields.kFragment = 16;
  EXPECT_EQ(printAttribute(ScheduleAttr::get(&context, fields)),
            "#tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = "
            "16, kFragment = 16, stages = 1, vthread = [1, 1]>");
}

TEST_F(ScheduleFieldsTest, ValuesBelowTheMinimumAreInvalid) {
  for (size_t i = 0; i < ScheduleNumbers::size; ++i) {
    auto field = static_cast<ScheduleField>(i);
    ScheduleNumbers numbers = makeUnusual();
    numbers[field] = getScheduleField(field).least - 1;
    EXPECT_FALSE(numbers.isValid()) << getScheduleField(field).name.str();
  }
}

} // namespace
