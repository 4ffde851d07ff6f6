//===- WindowSpaceTest.cpp - Windows as tasks -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/WindowSpace.h"

#include "Driver/Compiler.h"
#include "Scheduling/TuningTask.h"
#include "Scheduling/WindowTask.h"
#include "Tuning/MachineModel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

namespace {

/// A depthwise convolution of 3x3 on 8x8 points of 32 channels. `combine` makes
/// %s of the element %e, the filter's %f and the sum %part.
std::string makeWindow(StringRef before = "", StringRef after = "") {
  return ("func.func @main(%in: memref<1x10x10x32xf32>, %filter: "
          "memref<3x3x32xf32>, %out: memref<1x8x8x32xf32>) {\n" +
          before +
          R"(
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<1x8x8x32xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%rows = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%part = %rows) -> f32 {
        %i = affine.apply affine_map<(a, b) -> (a + b)>(%h, %y)
        %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
        %e = memref.load %in[%n, %i, %j, %c] : memref<1x10x10x32xf32>
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x32xf32>
        %p = arith.mulf %e, %f : f32
        %s = arith.addf %part, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
)" + after +
          R"(    linalg.yield %sum : f32
  }
  return
}
)")
      .str();
}

class WindowSpaceTest : public ::testing::Test {
protected:
  WindowSpaceTest() { prepareContext(context); }

  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  static Operation *findTask(ModuleOp module) {
    Operation *found = nullptr;
    module.walk([&](Operation *op) {
      if (isTuningTask(op))
        found = op;
    });
    return found;
  }

  Attribute parseSchedule(StringRef text) {
    return parseAttribute(text, &context);
  }

  MLIRContext context;
};

} // namespace

TEST_F(WindowSpaceTest, AWindowIsATaskWithItsImageAndFilter) {
  OwningOpRef<ModuleOp> task = parse(makeWindow()),
                        same = parse(
                            makeWindow("  %unused = arith.constant 7 : i32\n"));
  ASSERT_TRUE(task && same);
  Operation *op = findTask(*task);
  ASSERT_TRUE(op);
  EXPECT_EQ(describeTask(op),
            "depthwise 3x3 of 1x10x10x32xf32 -> 1x8x8x32xf32");
  EXPECT_EQ(explainUntunable(op), "");
  EXPECT_EQ(getTaskKey(op), getTaskKey(findTask(*same)));
  // Its program has one argument for each array, and is a fixed point.
  OwningOpRef<ModuleOp> program = parse(getTaskText(op));
  ASSERT_TRUE(program);
  EXPECT_EQ(collectTaskInputs(findTask(*program)).size(), 3u + 4u)
      << "three arrays and four constants";
  EXPECT_EQ(getTaskKey(findTask(*program)), getTaskKey(op));
  MachineModel model(op, *findChip("cuda", "sm_90a"));
  EXPECT_EQ(model.getOperations(), 2.0 * 9 * 8 * 8 * 32);
  EXPECT_EQ(model.getBytes(), 4.0 * (100 * 32 + 9 * 32 + 64 * 32));
  EXPECT_EQ(model.getRateType(), "f32");
}

TEST_F(WindowSpaceTest, ScheduleIsNotAPartOfTheTask) {
  OwningOpRef<ModuleOp> task = parse(makeWindow());
  ASSERT_TRUE(task);
  Operation *op = findTask(*task);
  std::string key = getTaskKey(op);
  Attribute schedule = parseSchedule(
      "#tessera.window_schedule<points = 4, rows = 2, threads = 64>");
  Attribute ofMatmul = parseSchedule(
      "#tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32>");
  ASSERT_TRUE(schedule && ofMatmul);
  EXPECT_TRUE(setTaskSchedule(op, schedule));
  EXPECT_EQ(getTaskSchedule(op), schedule);
  EXPECT_EQ(getTaskKey(op), key);
  // One of another kind changes nothing.
  EXPECT_FALSE(setTaskSchedule(op, ofMatmul));
  EXPECT_EQ(getTaskSchedule(op), schedule);
  EXPECT_TRUE(setTaskSchedule(op, {}));
  EXPECT_FALSE(getTaskSchedule(op));
  // The loops of a body may have it instead.
  op->walk([&](Operation *inner) {
    if (inner->getName().getStringRef() == "scf.for")
      inner->setAttr(windowScheduleName, schedule);
  });
  EXPECT_EQ(getTaskSchedule(op), schedule);
  EXPECT_EQ(getTaskKey(op), key);
}

TEST_F(WindowSpaceTest, ApproximatedFunctionsAreNotExact) {
  OwningOpRef<ModuleOp> task = parse(makeWindow()),
                        other = parse(
                            makeWindow("", "    %x = math.exp %sum : f32\n"));
  ASSERT_TRUE(task && other);
  EXPECT_TRUE(isExactWindow(getWindowOp(findTask(*task))));
  EXPECT_FALSE(isExactWindow(getWindowOp(findTask(*other))));
}

TEST_F(WindowSpaceTest, SpacesListLegalSchedulesOnce) {
  for (auto [target, name] : {std::pair("cuda", "sm_90a"),
                              {"hip", "gfx942"},
                              {"vulkan", "nvidia-hopper"},
                              {"cpu", "x86-64-avx512"}}) {
    SCOPED_TRACE(name);
    const Chip *chip = findChip(target, name);
    ASSERT_TRUE(chip);
    OwningOpRef<ModuleOp> task = parse(makeWindow());
    ASSERT_TRUE(task);
    WindowSpace space(*task, *chip);
    std::set<const void *> seen;
    size_t removed = 0;
    for (const auto &[why, count] : space.getRemoved())
      removed += count;
    EXPECT_EQ(space.getSchedules().size() + removed, space.countCombinations());
    EXPECT_TRUE(llvm::is_contained(space.getSchedules(), space.getDefault()));
    for (WindowScheduleAttr schedule : space.getSchedules()) {
      EXPECT_TRUE(space.isLegal(schedule));
      EXPECT_TRUE(seen.insert(schedule.getAsOpaquePointer()).second);
      EXPECT_LE(schedule.getThreads(), chip->maxThreads);
      if (chip->policy.simt.pointsPerThread > 1) {
        EXPECT_EQ(schedule.getRows(), 1);
        EXPECT_EQ(schedule.getLines(), 1);
        EXPECT_EQ(schedule.getThreads(), 1);
      }
    }
    EXPECT_GT(space.getSchedules().size(), 2u);
    EXPECT_EQ(llvm::any_of(space.getSchedules(),
                           [](auto one) { return one.getLines() > 1; }),
              chip->policy.simt.pointsPerThread == 1);
  }
}

TEST_F(WindowSpaceTest, ConstraintsNameTheLimits) {
  OwningOpRef<ModuleOp> task = parse(makeWindow());
  ASSERT_TRUE(task);
  PointMappings mappings(cast<linalg::LinalgOp>(findTask(*task)),
                         *findChip("cuda", "sm_90a"));
  auto explain = [&](int64_t points, int64_t rows, int64_t threads,
                     int64_t lines = 1) {
    return mappings.explain(
        WindowScheduleAttr::get(&context, points, rows, lines, threads));
  };
  context.loadDialect<TesseraDialect>();
  EXPECT_EQ(explain(4, 8, 1024), "");
  EXPECT_TRUE(StringRef(explain(8, 1, 64)).starts_with("window_schedule_c3: "));
  EXPECT_TRUE(StringRef(explain(4, 3, 64)).starts_with("window_schedule_c4: "));
  EXPECT_EQ(explain(4, 2, 64, 8), "");
  EXPECT_TRUE(
      StringRef(explain(4, 2, 64, 3)).starts_with("window_schedule_c4: lines"));
  EXPECT_TRUE(
      StringRef(explain(4, 1, 1025)).starts_with("window_schedule_c5: "));
}
