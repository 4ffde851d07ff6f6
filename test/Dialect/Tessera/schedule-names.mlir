// A former name of a schedule field is read, with one warning that names the present one.

// RUN: gpu-opt %s --verify-diagnostics | FileCheck %s

// CHECK: s = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 32, kFragment = 32, stages = 2, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
// expected-warning @+1 {{the schedule field 'group' is now called 'subgroupsPerFragment'}}
func.func private @former() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, swizzle = true, group = 4>}

// Fields come in any order. Those with default values are not printed, except the first six.
// CHECK: s = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 64, kFragment = 64, stages = 1, vthread = [1, 1], splitK = 2, splitKReduction = atomic>
func.func private @order() attributes {s = #tessera.schedule<splitKReduction = atomic, subgroupsPerFragment = 1, cluster = [1, 1], k = 64, splitK = 2, swizzle = false, subgroup = [32, 32], workgroup = [64, 32]>}
