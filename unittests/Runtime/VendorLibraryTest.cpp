//===- VendorLibraryTest.cpp - Matmuls by cuBLASLt and hipBLASLt ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Over libraries of their names that compute on the host and check how they are
// called (BlasLt/FakeBlasLt.cpp): hipBLASLt on a device of a HIP that functions
// play, cuBLASLt on the CPU's memory. Neither a GPU nor a vendor's library is
// needed.
//
//===----------------------------------------------------------------------===//

#include "Runtime/VendorLibrary.h"
#include "BlasLt/FakeBlasLt.h"
#include "CUDA/CublasLt.h"
#include "FakeHip.h"
#include "HIP/HipDevice.h"
#include "HIP/HipblasLt.h"
#include "TestUtils.h"

#include <dlfcn.h>

using namespace tessera::runtime;

namespace {

/// The state of a library, which stays loaded: later loads by its name find it,
/// wherever the real one is.
FakeBlasLt *load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(library) << dlerror();
  if (!library)
    return nullptr;
  auto getter =
      reinterpret_cast<FakeBlasLtGetter>(dlsym(library, fakeBlasLtGetter));
  EXPECT_TRUE(getter);
  return getter ? getter() : nullptr;
}

/// Which of the two a test is about.
enum class Vendor { Nvidia, Amd };

class LibraryTest : public testing::Test {
protected:
  explicit LibraryTest(Vendor vendor) : vendor(vendor) {}

  bool isHip() const { return vendor == Vendor::Amd; }

  void SetUp() override {
    library = load(isHip() ? TESSERA_FAKE_HIPBLASLT : TESSERA_FAKE_CUBLASLT);
    ASSERT_TRUE(library);
    *library = FakeBlasLt();
    library->version = isHip() ? 1002 : 130002;
    fake = &hip;
    driver = makeFakeDriver();
    Expected<std::unique_ptr<Device>> opened =
        isHip() ? openHipDevice(driver, 0) : openDevice("cpu");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  void TearDown() override {
    device.reset();
    EXPECT_TRUE(hip.memory.empty());
    EXPECT_EQ(library->live, 0);
    EXPECT_EQ(library->problem, "");
    fake = nullptr;
  }

  BlasLtInterface getInterface() const {
    return isHip() ? getHipblasLt(device->info()) : getCublasLt();
  }
  Expected<std::unique_ptr<VendorLibrary>>
  prepare(const LibraryMatmul &matmul) {
    return isHip() ? VendorLibrary::prepare(*device, matmul)
                   : prepareBlasLt(*device, matmul, getCublasLt());
  }
  /// The reason why a matmul is rejected, without leaving state behind.
  Status reject(const LibraryMatmul &matmul) {
    Status status = prepare(matmul).status();
    EXPECT_EQ(library->live, 0);
    EXPECT_EQ(device->memoryStats().liveBytes, 0u);
    return status;
  }
  Status reject(const BlasLtInterface &interface) {
    Status status = prepareBlasLt(*device, makeMatmul(), interface).status();
    EXPECT_EQ(library->live, 0);
    return status;
  }

  /// 2x4 times 4x3, or a batch of these.
  static LibraryMatmul makeMatmul(ElementType type = ElementType::F16,
                                  ElementType out = ElementType::F16,
                                  ElementType sum = ElementType::F32) {
    LibraryMatmul matmul;
    matmul.m = 2;
    matmul.n = 3;
    matmul.k = 4;
    matmul.lhsStride = 2 * 4;
    matmul.rhsStride = 4 * 3;
    matmul.outStride = 2 * 3;
    matmul.lhs = matmul.rhs = type;
    matmul.out = out;
    matmul.sum = sum;
    return matmul;
  }
  /// Prepares a matmul of distinct numbers, runs it twice and compares.
  void compute(const LibraryMatmul &matmul);

  Vendor vendor;
  FakeBlasLt *library = nullptr;
  FakeHip hip;
  HipDriver driver;
  std::unique_ptr<Device> device;
};

class HipblasLtTest : public LibraryTest {
protected:
  HipblasLtTest() : LibraryTest(Vendor::Amd) {}
};

/// Tests of both libraries.
class VendorLibraryTest : public LibraryTest,
                          public testing::WithParamInterface<Vendor> {
protected:
  VendorLibraryTest() : LibraryTest(GetParam()) {}
};

/// Numbers of an operand: small, of both signs, and none like its neighbours.
double getNumber(int64_t index, int64_t factor) {
  return static_cast<double>(index * factor % 11 - 5);
}

/// Device memory with an array in it.
class Memory {
public:
  Memory(Device &device, const HostArray &array) : device(device) {
    EXPECT_TRUE(device.allocate(array.data.size(), &ptr).ok());
    EXPECT_TRUE(
        device.copyToDevice(ptr, array.data.data(), array.data.size()).ok());
  }
  ~Memory() { EXPECT_TRUE(device.free(ptr).ok()); }

  void *ptr = nullptr;

private:
  Device &device;
};

HostArray makeArray(ElementType type, int64_t size, int64_t factor) {
  Expected<HostArray> array = HostArray::create(type, {size});
  EXPECT_TRUE(array.ok());
  for (int64_t i = 0; i < size; ++i)
    array->setDouble(i, factor ? getNumber(i, factor) : 99);
  return array.take();
}

void LibraryTest::compute(const LibraryMatmul &matmul) {
  auto count = [&](int64_t stride, int64_t rows, int64_t cols) {
    return (stride ? matmul.matrices : 1) * rows * cols;
  };
  const int64_t m = matmul.m, n = matmul.n, k = matmul.k;
  HostArray lhs = makeArray(matmul.lhs, count(matmul.lhsStride, m, k), 3),
            rhs = makeArray(matmul.rhs, count(matmul.rhsStride, k, n), 7),
            out = makeArray(matmul.out, count(matmul.outStride, m, n), 0);
  Memory lhsMemory(*device, lhs), rhsMemory(*device, rhs),
      outMemory(*device, out);
  Expected<std::unique_ptr<VendorLibrary>> prepared = prepare(matmul);
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ((*prepared)->getName(),
            isHip() ? "hipBLASLt 0.10.2" : "cuBLASLt 13.0.2");
  for (int repeat = 0; repeat < 2; ++repeat) {
    // As it is timed.
    if (isHip())
      ASSERT_TRUE(device->enterQueue(nullptr).ok());
    Status status =
        (*prepared)->run(lhsMemory.ptr, rhsMemory.ptr, outMemory.ptr);
    EXPECT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(device->leaveQueue().ok());
  }
  ASSERT_TRUE(
      device->copyToHost(out.data.data(), outMemory.ptr, out.data.size()).ok());
  for (int64_t matrix = 0; matrix < matmul.matrices; ++matrix)
    for (int64_t row = 0; row < m; ++row)
      for (int64_t col = 0; col < n; ++col) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum +=
              getNumber(matrix * matmul.lhsStride +
                            (matmul.transposedLhs ? i * m + row : row * k + i),
                        3) *
              getNumber(matrix * matmul.rhsStride +
                            (matmul.transposedRhs ? col * k + i : i * n + col),
                        7);
        EXPECT_EQ(out.getDouble((matrix * m + row) * n + col), sum)
            << matrix << ", " << row << ", " << col;
      }
  // The workspace is the library's until it goes.
  EXPECT_EQ(library->live, 5);
  prepared->reset();
  EXPECT_EQ(library->live, 0);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

TEST_P(VendorLibraryTest, ComputesMatmulsOfEachType) {
  using E = ElementType;
  compute(makeMatmul(E::F16, E::F16));
  compute(makeMatmul(E::F16, E::F32));
  compute(makeMatmul(E::BF16, E::BF16));
  compute(makeMatmul(E::BF16, E::F32));
  compute(makeMatmul(E::F32, E::F32));
  compute(makeMatmul(E::F64, E::F64, E::F64));
  compute(makeMatmul(E::I8, E::I32, E::I32));
}

TEST_P(VendorLibraryTest, ComputesMatmulsOfTransposedOperands) {
  for (bool transposedLhs : {false, true})
    for (bool transposedRhs : {false, true}) {
      LibraryMatmul matmul = makeMatmul();
      matmul.transposedLhs = transposedLhs;
      matmul.transposedRhs = transposedRhs;
      compute(matmul);
      matmul.matrices = 3;
      compute(matmul);
    }
}

TEST_P(VendorLibraryTest, ComputesBatches) {
  LibraryMatmul matmul = makeMatmul(ElementType::BF16, ElementType::F32);
  matmul.matrices = 5;
  compute(matmul);
  // One operand for all of them.
  matmul.rhsStride = 0;
  compute(matmul);
  matmul.rhsStride = matmul.k * matmul.n;
  matmul.lhsStride = 0;
  compute(matmul);
}

TEST_P(VendorLibraryTest, CallsInThisOrder) {
  LibraryMatmul matmul = makeMatmul(ElementType::F32, ElementType::F32);
  matmul.transposedLhs = true;
  matmul.matrices = 5;
  matmul.rhsStride = 0;
  matmul.tf32 = true;
  compute(matmul);
  std::vector<std::string> expected = {"GetVersion()", "Create()"};
  if (isHip())
    std::swap(expected[0], expected[1]);
  for (const char *call : {
           "MatmulDescCreate(32F_FAST_TF32, R_32F)",
           "MatmulDescSetAttribute(TRANSA, N)",
           "MatmulDescSetAttribute(TRANSB, T)",
           "MatrixLayoutCreate(R_32F, 3, 4, 3)",
           "MatrixLayoutSetAttribute(BATCH_COUNT, 5)",
           "MatrixLayoutSetAttribute(STRIDED_BATCH_OFFSET, 0)",
           "MatrixLayoutCreate(R_32F, 2, 4, 2)",
           "MatrixLayoutSetAttribute(BATCH_COUNT, 5)",
           "MatrixLayoutSetAttribute(STRIDED_BATCH_OFFSET, 8)",
           "MatrixLayoutCreate(R_32F, 3, 2, 3)",
           "MatrixLayoutSetAttribute(BATCH_COUNT, 5)",
           "MatrixLayoutSetAttribute(STRIDED_BATCH_OFFSET, 6)",
           "MatmulPreferenceCreate()",
           "MatmulPreferenceSetAttribute(MAX_WORKSPACE_BYTES, 33554432)",
           "MatmulAlgoGetHeuristic(1)",
           "MatmulPreferenceDestroy()",
           "Matmul(33554432)",
           "Matmul(33554432)",
           "MatrixLayoutDestroy()",
           "MatrixLayoutDestroy()",
           "MatrixLayoutDestroy()",
           "MatmulDescDestroy()",
           "Destroy()",
       })
    expected.emplace_back(call);
  EXPECT_EQ(library->calls, expected);
}

TEST_P(VendorLibraryTest, NamesElementTypes) {
  using E = ElementType;
  struct {
    E type;
    const char *name;
  } types[] = {
      {E::F8E4M3FN, "R_8F_E4M3"},
      {E::F8E5M2, "R_8F_E5M2"},
      {E::F8E4M3FNUZ, isHip() ? "R_8F_E4M3_FNUZ" : nullptr},
      {E::F8E5M2FNUZ, isHip() ? "R_8F_E5M2_FNUZ" : nullptr},
      {E::U8, nullptr},
      {E::I4, nullptr},
      {E::Index, nullptr},
  };
  for (const auto &[type, name] : types) {
    LibraryMatmul matmul = makeMatmul(type, ElementType::F32);
    library->calls.clear();
    if (!name) {
      Status status = reject(matmul);
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
      EXPECT_EQ(status.message(),
                std::string(isHip() ? "hipBLASLt" : "cuBLASLt") +
                    " does not support element type " + elementTypeName(type));
      continue;
    }
    Expected<std::unique_ptr<VendorLibrary>> prepared = prepare(matmul);
    ASSERT_TRUE(prepared.ok()) << prepared.status().message();
    for (const char *sizes : {", 3, 4, 3)", ", 4, 2, 4)"})
      EXPECT_EQ(std::count(library->calls.begin(), library->calls.end(),
                           "MatrixLayoutCreate(" + std::string(name) + sizes),
                1)
          << name << sizes;
  }
}

TEST_P(VendorLibraryTest, SumsInF16WhereTheLibraryDoes) {
  LibraryMatmul matmul =
      makeMatmul(ElementType::F16, ElementType::F16, ElementType::F16);
  if (!isHip())
    return compute(matmul);
  Status status = reject(matmul);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "hipBLASLt does not accumulate in f16");
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_P(VendorLibraryTest, SaysWhereItLooked) {
  BlasLtInterface interface = getInterface();
  EXPECT_EQ(
      interface.files,
      isHip()
          ? (std::vector<std::string>{"libhipblaslt.so.0", "libhipblaslt.so"})
          : (std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12",
                                      "libcublasLt.so"}));
  interface.files = {"libtessera-none.so.2", "libtessera-none.so"};
  Status status = reject(interface);
  EXPECT_EQ(status.code(), StatusCode::NoDevice);
  EXPECT_EQ(status.message(),
            std::string(isHip() ? "hipBLASLt" : "cuBLASLt") +
                " not found (libtessera-none.so.2, libtessera-none.so); add "
                "its folder to LD_LIBRARY_PATH");
}

TEST_F(HipblasLtTest, IsOfTheReleaseOfHip) {
  DeviceInfo info;
  for (const auto &[driver, file] :
       {std::pair("HIP 6.4.43484, driver 6.12.12", "libhipblaslt.so.0"),
        {"HIP 7.0.51831", "libhipblaslt.so.1"},
        {"HIP 10.1.0", "libhipblaslt.so.1"}}) {
    info.driver = driver;
    EXPECT_EQ(getHipblasLt(info).files.front(), file) << driver;
  }
}

TEST_P(VendorLibraryTest, NamesFunctionsThatAreMissing) {
  BlasLtInterface interface = getInterface();
  interface.files = {TESSERA_FAKE_PARTIAL_BLASLT};
  Status status = reject(interface);
  EXPECT_EQ(status.code(), StatusCode::NoDevice);
  const std::string lacks =
      " (" TESSERA_FAKE_PARTIAL_BLASLT ") lacks documented functions: ";
  if (isHip())
    EXPECT_EQ(status.message(), "hipBLASLt" + lacks + "hipblasLtMatmul");
  else
    EXPECT_TRUE(contains(status.message(), "cuBLASLt" + lacks +
                                               "cublasLtCreate, "
                                               "cublasLtDestroy, "));
}

TEST_F(HipblasLtTest, TakesNoOlderInterface) {
  library->version = 300;
  Status status = reject(makeMatmul());
  EXPECT_EQ(status.code(), StatusCode::NoDevice);
  EXPECT_EQ(
      status.message(),
      "hipBLASLt 0.3.0 (libhipblaslt.so.0) has a different interface than "
      "0.6.0, of ROCm 6.0, and later releases; add the folder of such a "
      "release to LD_LIBRARY_PATH");
  library->version = 600;
  EXPECT_TRUE(prepare(makeMatmul()).ok());
  library->version = 100203;
  Expected<std::unique_ptr<VendorLibrary>> prepared = prepare(makeMatmul());
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ((*prepared)->getName(), "hipBLASLt 1.2.3");
}

TEST_P(VendorLibraryTest, ReportsWhatTheLibraryRejects) {
  const std::string prefix = isHip() ? "hipblasLt" : "cublasLt",
                    type = isHip() ? ": hipblasStatus_t " : ": cublasStatus_t ";
  const int notSupported = isHip() ? 7 : 15, other = isHip() ? 3 : 7;
  LibraryMatmul matmul = makeMatmul();
  matmul.matrices = 2;
  for (const char *function :
       {"Create", "MatmulDescCreate", "MatmulDescSetAttribute",
        "MatrixLayoutCreate", "MatrixLayoutSetAttribute",
        "MatmulPreferenceCreate", "MatmulPreferenceSetAttribute",
        "MatmulAlgoGetHeuristic"})
    for (int result : {notSupported, other}) {
      library->failing = function;
      library->result = result;
      Status status = reject(matmul);
      EXPECT_EQ(status.code(), result == notSupported
                                   ? StatusCode::InvalidArgument
                                   : StatusCode::Internal);
      EXPECT_EQ(status.message(),
                prefix + function + type + std::to_string(result));
    }
  library->failing.clear();
  library->found = 0;
  Status status = reject(matmul);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), std::string(isHip() ? "hipBLASLt" : "cuBLASLt") +
                                  " has no algorithm for this matmul");
  // A library that is found may be unusable.
  library->found = 1;
  library->state = notSupported;
  status = reject(matmul);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), prefix + "MatmulAlgoGetHeuristic" + type +
                                  std::to_string(notSupported));
}

TEST_P(VendorLibraryTest, ReportsWhyAMatmulFails) {
  HostArray array = makeArray(ElementType::F16, 12, 3);
  Memory lhs(*device, array), rhs(*device, array), out(*device, array);
  Expected<std::unique_ptr<VendorLibrary>> prepared = prepare(makeMatmul());
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  library->failing = "Matmul";
  library->result = 6;
  Status status = (*prepared)->run(lhs.ptr, rhs.ptr, out.ptr);
  EXPECT_EQ(status.code(), StatusCode::Internal);
  EXPECT_EQ(status.message(), isHip() ? "hipblasLtMatmul: hipblasStatus_t 6"
                                      : "cublasLtMatmul: cublasStatus_t 6");
}

TEST_F(HipblasLtTest, NeedsMemoryForItsWorkspace) {
  hip.usedBytes = hip.totalBytes - (16 << 20);
  Status status = reject(makeMatmul());
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  hip.usedBytes = 0;
}

TEST(VendorLibraryOfTargetTest, IsKnownForCudaAndHip) {
  Expected<std::unique_ptr<Device>> cpu = openDevice("cpu");
  ASSERT_TRUE(cpu.ok());
  Status status = VendorLibrary::prepare(**cpu, LibraryMatmul()).status();
  EXPECT_EQ(status.code(), StatusCode::NoDevice);
  EXPECT_EQ(status.message(), "no vendor library is known for cpu");
}

INSTANTIATE_TEST_SUITE_P(, VendorLibraryTest,
                         testing::Values(Vendor::Nvidia, Vendor::Amd),
                         [](const auto &info) {
                           return info.param == Vendor::Amd ? "hipBLASLt"
                                                            : "cuBLASLt";
                         });

} // namespace
