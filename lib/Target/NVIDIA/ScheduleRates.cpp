//===- ScheduleRates.cpp - Fitted rates of NVIDIA's chips -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedules.h"

using namespace mlir::tessera;

/// Fitted to times of an H200 (benchmarks/calibrate.py fit,
/// docs/benchmarks/h200-calibration.md).
ScheduleRates mlir::tessera::getWarpgroupRates() {
  ScheduleRates rates;
  rates.start = 3791;
  rates.startOfSums = 2364;
  rates.products = {
      {{1356, 4112}, {2315, 9171}, {672.9, 5763}, {526.9, 7090}, {185.5, 180}}};
  rates.shared = {173.4, 312.6};
  rates.loaded = {66.79, 346.4};
  rates.cache = 13597;
  rates.latency = {388.1, 390.2};
  rates.step = {59.29, 44.02};
  rates.tile = {28.86, 308.8};
  rates.stored = {183.9, 51.97};
  rates.exposed = 0.217;
  rates.memory = 2687;
  rates.processorMemory = 164.9;
  rates.sums = 11447;
  rates.clusterSums = 20.48;
  rates.clusterWait = 602.4;
  rates.sharing = 1.158;
  rates.copyStart = 1694;
  rates.copied = 2868;
  rates.transposed = 1712;
  rates.single = 1.8;
  rates.access = 0.1586;
  rates.heldAccess = 0.06521;
  rates.store = 0.2281;
  rates.laneCopy = 4;
  rates.laneAccess = 84.45;
  rates.laneStore = 19.28;
  rates.gathered = 1.3;
  rates.splitLines = 1.662;
  rates.memoryOfSheet = 4800;
  rates.longest = 150000;
  rates.margins = {1.05, 1.05, 1.05, 1.05, 1.05};
  rates.corrections = getWarpgroupCorrections();
  return rates;
}
