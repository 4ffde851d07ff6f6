//===- ScheduleRates.cpp - Fitted rates of NVIDIA's chips -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/ScheduleRates.h"

using namespace mlir::tessera;

static ScheduleRates makeHopperRates() {
  ScheduleRates rates;
  rates.start = 4000;
  rates.startOfSums = 2500;
  rates.products = {
      {{1585, 3170}, {3170, 6340}, {1585, 6340}, {800, 1585}, {180, 180}}};
  rates.shared = {150, 300};
  rates.loaded = {100, 125};
  rates.cache = 10000;
  rates.latency = {1200, 1200};
  rates.step = {30, 20};
  rates.tile = {1000, 1000};
  rates.stored = {60, 60};
  rates.exposed = 0.5;
  rates.memory = 3500;
  rates.processorMemory = 36;
  rates.sums = 3500;
  rates.clusterSums = 6;
  rates.clusterWait = 1000;
  rates.sharing = 1.03;
  rates.copyStart = 3000;
  rates.copied = 2500;
  rates.transposed = 700;
  rates.single = 1.2;
  rates.held = 2;
  rates.gathered = 1.3;
  rates.splitLines = 2;
  return rates;
}

const ScheduleRates *mlir::tessera::findScheduleRates(const Chip &chip) {
  static const ScheduleRates hopper = makeHopperRates();
  return chip.name == "sm_90a" ? &hopper : nullptr;
}
