//===- HostImportsTest.cpp - Imports of native code -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/HostImports.h"
#include "Runtime/Executable.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera::runtime;

TEST(HostImports, AreAListOfNames) {
  for (const char *name :
       {"tessera_rt_launch", "sinf", "pow", "fmaf", "erf", "memcpy", "__divti3",
        "__truncsfbf2", "malloc", "free"})
    EXPECT_NE(findHostImport(name), nullptr) << name;
  for (const char *name : {"system", "getpid", "exit", "mmap", "printf",
                           "dlsym", "environ", "", "sin ", "SINF"})
    EXPECT_EQ(findHostImport(name), nullptr) << name;
}

TEST(HostImports, AreTheFunctionsOfTheirNames) {
  using F32 = float(float);
  using F64 = double(double, double);
  EXPECT_EQ(reinterpret_cast<F32 *>(findHostImport("sinf"))(0.5F),
            std::sin(0.5F));
  EXPECT_EQ(reinterpret_cast<F64 *>(findHostImport("pow"))(3, 2.5),
            std::pow(3, 2.5));
}

TEST(HostImports, ProgramsMayDeclareMathematicalFunctions) {
  auto sine = findMathFunction("sinf");
  ASSERT_TRUE(sine);
  EXPECT_EQ(sine->arguments, 1u);
  EXPECT_FALSE(sine->isDouble);
  auto power = findMathFunction("pow");
  ASSERT_TRUE(power);
  EXPECT_EQ(power->arguments, 2u);
  EXPECT_TRUE(power->isDouble);
  for (const char *name : {"memcpy", "tessera_rt_launch", "powl", "frexp", "f"})
    EXPECT_FALSE(findMathFunction(name)) << name;
}

// Before the library is loaded, and with it code of its own.
TEST(HostImports, ABundleThatCallsAnotherIsRejected) {
  ProgramVariant variant;
  variant.library = "not even a library";
  variant.imports = {"sinf", "system"};
  auto loaded = LoadedVariant::load(variant);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), StatusCode::Rejected);
  EXPECT_NE(loaded.status().message().find(
                "it calls 'system', which the runtime does not offer"),
            std::string::npos)
      << loaded.status().message();
}
