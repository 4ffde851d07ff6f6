//===- CandidateSourceTest.cpp - Candidates of windows --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/CandidateSource.h"

#include "Tuning/WindowSpace.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"

#include <gtest/gtest.h>

using namespace tessera::tuning;
using mlir::tessera::WindowScheduleAttr;

namespace {

const char *const pooling = R"(
func.func @main(%in: memref<4x18x16x32xf32>, %out: memref<4x16x16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<4x16x16x32xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %max = scf.for %y = %c0 to %c3 step %c1 iter_args(%most = %low) -> f32 {
      %i = affine.apply affine_map<(a, b) -> (a + b)>(%h, %y)
      %e = memref.load %in[%n, %i, %w, %c] : memref<4x18x16x32xf32>
      %m = arith.maximumf %most, %e : f32
      scf.yield %m : f32
    }
    linalg.yield %max : f32
  }
  return
})";

TEST(CandidateSourceTest, WindowsAreTriedFromTheBestOn) {
  mlir::MLIRContext context;
  compiler::prepareContext(context);
  const compiler::Chip &chip = *compiler::findChip("cuda", "sm_90a");
  Task task;
  task.program = mlir::parseSourceString<mlir::ModuleOp>(pooling, &context);
  ASSERT_TRUE(task.program);
  tuning::WindowSpace space(*task.program, chip);
  auto source = makeCandidateSource(
      task, chip, [](tuning::SpaceValues &) {},
      /*seed=*/1);
  auto parse = [&](llvm::StringRef numbers) {
    return mlir::parseAttribute(
        ("#tessera.window_schedule<" + numbers + ">").str(), &context);
  };
  Point own = space.getDefault();
  EXPECT_TRUE(source->isSchedule(own));
  EXPECT_FALSE(source->isSchedule(mlir::parseAttribute(
      "#tessera.schedule<workgroup = [8, 8], subgroup = [8, 8], k = 8>",
      &context)));
  EXPECT_FALSE(source->isLegal(parse("points = 8, rows = 1, threads = 64")));
  source->setOwnChoice(own);
  source->observeOwnChoice(1);
  EXPECT_EQ(source->getBest(), 1);
  // The first ones are next to the compiler's own choice.
  std::optional<Point> first = source->propose();
  ASSERT_TRUE(first);
  EXPECT_EQ(tuning::getDistance(mlir::cast<WindowScheduleAttr>(own),
                                mlir::cast<WindowScheduleAttr>(*first)),
            1);
  source->observe(*first, std::nullopt);
  EXPECT_EQ(source->getBest(), 1);
  // A faster one, of an earlier run, has the next ones beside it.
  Point fast = parse("points = 1, rows = 16, threads = 512");
  ASSERT_TRUE(llvm::is_contained(space.getSchedules(), fast));
  source->observe(fast, 0.5);
  EXPECT_EQ(source->getBest(), 0.5);
  std::optional<Point> next = source->propose();
  ASSERT_TRUE(next);
  EXPECT_EQ(tuning::getDistance(mlir::cast<WindowScheduleAttr>(fast),
                                mlir::cast<WindowScheduleAttr>(*next)),
            1);
  // In the end all of them were proposed, each once.
  std::vector<Point> seen = {own, *first, fast, *next};
  double gain = source->getExpectedGain();
  EXPECT_GT(gain, 0);
  while (std::optional<Point> point = source->propose()) {
    EXPECT_FALSE(llvm::is_contained(seen, *point)) << mlir::debugString(*point);
    EXPECT_TRUE(source->isLegal(*point));
    seen.push_back(*point);
  }
  EXPECT_EQ(seen.size(), space.getSchedules().size());
  EXPECT_EQ(source->getExpectedGain(), 0);
}

} // namespace
