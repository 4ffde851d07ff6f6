// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-covered{chip=sm_80})" --verify-diagnostics
// A function of that name is not a test: planted_c1.
func.func @planted_c2()
// expected-error @+1 {{covered_c1: N}}
// expected-note @+1 {{covered_c2}}
