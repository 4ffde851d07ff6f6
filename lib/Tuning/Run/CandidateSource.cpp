//===- CandidateSource.cpp - Where a task's candidates come from ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/CandidateSource.h"

#include "llvm/Support/raw_ostream.h"

using namespace tessera::tuning;

namespace {
class SearchSource : public CandidateSource {
public:
  SearchSource(Task &task, const compiler::Chip &chip,
               const tuning::SpaceValues &values,
               const tuning::SearchOptions &options)
      : space(*task.program, chip, values, /*isEnumerated=*/false),
        machine(task.getOp(), chip), search(space, machine, options) {}

  std::optional<Point> propose() override { return search.propose(); }
  std::string format(const Point &point) override {
    std::string text;
    llvm::raw_string_ostream(text) << mlir::Attribute(space.getAttr(point));
    return text;
  }
  bool isLegal(const Point &point) const override {
    return space.isLegal(point);
  }
  double getExpected(const Point &point) const override {
    return search.getExpected(point);
  }
  double getExpectedGain() override { return search.getExpectedGain(); }
  double getBest() const override { return search.getBest(); }
  size_t getPruned() const override { return search.getPruned(); }
  void observe(const Point &point, std::optional<double> time) override {
    search.observe(point, time);
  }
  void setOwnChoice(compiler::ScheduleAttr schedule) override {
    search.setOwnChoice(schedule);
  }
  void observeOwnChoice(double time) override { search.observeOwnChoice(time); }
  void enumerate() override { space.enumerate(); }

private:
  tuning::ScheduleSpace space;
  tuning::MachineModel machine;
  tuning::TaskSearch search;
};
} // namespace

std::unique_ptr<CandidateSource>
tessera::tuning::makeCandidateSource(Task &task, const compiler::Chip &chip,
                                     const SpaceEditor &edit, uint64_t seed) {
  tuning::SpaceValues values = tuning::getDefaultValues(task.getOp(), chip);
  edit(values);
  tuning::SearchOptions options;
  options.seed = seed;
  return std::make_unique<SearchSource>(task, chip, values, options);
}
