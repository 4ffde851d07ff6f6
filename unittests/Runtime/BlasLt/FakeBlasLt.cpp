//===- FakeBlasLt.cpp - A cuBLASLt or hipBLASLt for tests -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is selected at compile time. The fake computes matmuls in the
// given memory, which is host memory, and records and checks its calls.
//
// The numbers are those of the libraries' own headers, written down here a
// second time: cublasLt.h, cublas_api.h and library_types.h of CUDA 13;
// hipblaslt.h of hipBLASLt 0.6 to 0.11, hipblas-common.h, and
// hip/library_types.h of HIP 6.3.
//
//===----------------------------------------------------------------------===//

#include "FakeBlasLt.h"

#include <cstdint>
#include <cstring>

using namespace tessera::runtime;

#ifdef FAKE_CUBLASLT
#define API(name) cublasLt##name
#else
#define API(name) hipblasLt##name
#endif
// One that lacks a function has it by another name.
#ifdef FAKE_WITHOUT_MATMUL
#define MATMUL tesseraMatmul
#else
#define MATMUL API(Matmul)
#endif

namespace {

enum DataType : int {
  R_32F = 0,
  R_64F = 1,
  R_16F = 2,
  R_8I = 3,
  R_32I = 10,
  R_16BF = 14,
  R_8F_E4M3 = 28,
  R_8F_E5M2 = 29,
#ifdef FAKE_HIPBLASLT
  R_8F_E4M3_FNUZ = 1000,
  R_8F_E5M2_FNUZ = 1001,
#endif
};

#ifdef FAKE_CUBLASLT
constexpr int invalidValue = 7;
enum Compute : int {
  Compute16F = 64,
  Compute32F = 68,
  Compute64F = 70,
  Compute32I = 72,
  Compute32FFastTF32 = 77,
};
enum Operation : int { OpN = 0, OpT = 1 };
enum DescAttribute : int { DescTransA = 3, DescTransB = 4 };
enum LayoutAttribute : int { LayoutBatchCount = 5, LayoutBatchStride = 6 };
struct Algorithm {
  uint64_t data[8];
};
#else
constexpr int invalidValue = 3;
enum Compute : int {
  Compute16F = 0,
  Compute32F = 2,
  Compute32FFastTF32 = 6,
  Compute64F = 7,
  Compute32I = 9,
};
enum Operation : int { OpN = 111, OpT = 112 };
enum DescAttribute : int { DescTransA = 0, DescTransB = 1 };
enum LayoutAttribute : int { LayoutBatchCount = 0, LayoutBatchStride = 1 };
struct Algorithm {
  uint8_t data[16];
  size_t maxWorkspaceBytes;
};
#endif
constexpr int preferenceMaxWorkspaceBytes = 1;

struct HeuristicResult {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

struct Handle {};
struct Desc {
  int compute, scale;
  int transA = OpN, transB = OpN;
};
struct Layout {
  int type;
  uint64_t rows, cols;
  int64_t leading;
  int32_t count = 1;
  int64_t stride = 0;
};
struct Preference {
  uint64_t workspaceBytes = 0;
};

FakeBlasLt fake;

const char *formatType(int type) {
  switch (type) {
  case R_32F:
    return "R_32F";
  case R_64F:
    return "R_64F";
  case R_16F:
    return "R_16F";
  case R_8I:
    return "R_8I";
  case R_32I:
    return "R_32I";
  case R_16BF:
    return "R_16BF";
  case R_8F_E4M3:
    return "R_8F_E4M3";
  case R_8F_E5M2:
    return "R_8F_E5M2";
#ifdef FAKE_HIPBLASLT
  case R_8F_E4M3_FNUZ:
    return "R_8F_E4M3_FNUZ";
  case R_8F_E5M2_FNUZ:
    return "R_8F_E5M2_FNUZ";
#endif
  default:
    return "no type";
  }
}

const char *formatCompute(int compute) {
  switch (compute) {
  case Compute16F:
    return "16F";
  case Compute32F:
    return "32F";
  case Compute32FFastTF32:
    return "32F_FAST_TF32";
  case Compute64F:
    return "64F";
  case Compute32I:
    return "32I";
  default:
    return "no compute type";
  }
}

void complain(const std::string &what) {
  if (fake.problem.empty())
    fake.problem = (fake.calls.empty() ? "" : fake.calls.back() + ": ") + what;
}

/// Records a call, and returns the requested status.
int note(const std::string &function, const std::string &arguments = "") {
  fake.calls.push_back(function + "(" + arguments + ")");
  return fake.failing == function ? fake.result : 0;
}

/// Notes a call that makes a `T`.
template <typename T>
int make(void **made, T value, const char *function,
         const std::string &arguments = "") {
  if (int result = note(function, arguments))
    return result;
  *made = new T(value);
  ++fake.live;
  return 0;
}

template <typename T> int destroy(void *object, const char *function) {
  int result = note(function);
  if (!object)
    complain("of nothing");
  delete static_cast<T *>(object);
  --fake.live;
  return result;
}

/// Takes an attribute whose value has the size of `T`.
template <typename T> void take(T &to, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    complain("an attribute of " + std::to_string(bytes) + " bytes");
  else
    std::memcpy(&to, value, sizeof(T));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T> T read(const void *memory, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const T *>(memory) + index, sizeof(T));
  return value;
}

template <typename T> void write(void *memory, int64_t index, T value) {
  std::memcpy(static_cast<T *>(memory) + index, &value, sizeof(T));
}

double readNumber(int type, const void *memory, int64_t index) {
  switch (type) {
  case R_32F:
    return read<float>(memory, index);
  case R_64F:
    return read<double>(memory, index);
  case R_16F:
    return static_cast<double>(read<_Float16>(memory, index));
  case R_8I:
    return read<int8_t>(memory, index);
  case R_32I:
    return read<int32_t>(memory, index);
  case R_16BF: {
    uint32_t bits = uint32_t(read<uint16_t>(memory, index)) << 16;
    return read<float>(&bits, 0);
  }
  default:
    complain(std::string("no arithmetic of ") + formatType(type));
    return 0;
  }
}

/// `value` has few enough bits for each type.
void writeNumber(int type, void *memory, int64_t index, double value) {
  switch (type) {
  case R_32F:
    return write(memory, index, static_cast<float>(value));
  case R_64F:
    return write(memory, index, value);
  case R_16F:
    return write(memory, index, static_cast<_Float16>(value));
  case R_8I:
    return write(memory, index, static_cast<int8_t>(value));
  case R_32I:
    return write(memory, index, static_cast<int32_t>(value));
  case R_16BF: {
    auto number = static_cast<float>(value);
    return write(memory, index,
                 static_cast<uint16_t>(read<uint32_t>(&number, 0) >> 16));
  }
  default:
    return complain(std::string("no arithmetic of ") + formatType(type));
  }
}

/// An element of a matrix that is stored by columns.
int64_t getPosition(const Layout &layout, uint64_t row, uint64_t col,
                    int32_t matrix) {
  return matrix * layout.stride + static_cast<int64_t>(row) +
         static_cast<int64_t>(col) * layout.leading;
}

/// The magic number of a valid algorithm.
constexpr uint64_t algorithmMark = 0x5A17A160A1B2C3D4;

void checkSizes(const Desc &desc, const Layout &a, const Layout &b,
                const Layout &d) {
  bool transposedA = desc.transA == OpT, transposedB = desc.transB == OpT;
  uint64_t m = transposedA ? a.cols : a.rows,
           kOfA = transposedA ? a.rows : a.cols,
           n = transposedB ? b.rows : b.cols,
           kOfB = transposedB ? b.cols : b.rows;
  if (m != d.rows || n != d.cols || kOfA != kOfB)
    complain("the sizes do not fit");
  if (a.count != d.count || b.count != d.count)
    complain("the batches do not fit");
  for (const Layout *layout : {&a, &b, &d})
    if (layout->leading < static_cast<int64_t>(layout->rows))
      complain("a leading dimension below the rows");
}

} // namespace

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

extern "C" {

FakeBlasLt *tesseraFakeBlasLt() { return &fake; }

int API(Create)(void **handle) { return make(handle, Handle(), "Create"); }

int API(Destroy)(void *handle) { return destroy<Handle>(handle, "Destroy"); }

#ifdef FAKE_CUBLASLT
size_t API(GetVersion)() {
  note("GetVersion");
  return static_cast<size_t>(fake.version);
}
#else
int API(GetVersion)(void *handle, int *version) {
  int result = note("GetVersion");
  if (!handle)
    complain("without a handle");
  *version = fake.version;
  return result;
}
#endif

int API(MatrixLayoutCreate)(void **layout, int type, uint64_t rows,
                            uint64_t cols, int64_t leading) {
  Layout made;
  made.type = type;
  made.rows = rows;
  made.cols = cols;
  made.leading = leading;
  return make(layout, made, "MatrixLayoutCreate",
              formatType(type) + (", " + std::to_string(rows)) + ", " +
                  std::to_string(cols) + ", " + std::to_string(leading));
}

int API(MatrixLayoutDestroy)(void *layout) {
  return destroy<Layout>(layout, "MatrixLayoutDestroy");
}

int API(MatrixLayoutSetAttribute)(void *layout, int attribute,
                                  const void *value, size_t bytes) {
  auto &to = *static_cast<Layout *>(layout);
  const char *function = "MatrixLayoutSetAttribute";
  if (attribute == LayoutBatchCount) {
    take(to.count, value, bytes);
    return note(function, "BATCH_COUNT, " + std::to_string(to.count));
  }
  if (attribute == LayoutBatchStride) {
    take(to.stride, value, bytes);
    return note(function, "STRIDED_BATCH_OFFSET, " + std::to_string(to.stride));
  }
  note(function);
  complain("no such attribute");
  return invalidValue;
}

int API(MatmulDescCreate)(void **desc, int compute, int scale) {
  return make(desc, Desc{compute, scale}, "MatmulDescCreate",
              formatCompute(compute) + (", " + std::string(formatType(scale))));
}

int API(MatmulDescDestroy)(void *desc) {
  return destroy<Desc>(desc, "MatmulDescDestroy");
}

int API(MatmulDescSetAttribute)(void *desc, int attribute, const void *value,
                                size_t bytes) {
  auto &to = *static_cast<Desc *>(desc);
  const char *function = "MatmulDescSetAttribute";
  if (attribute != DescTransA && attribute != DescTransB) {
    note(function);
    complain("no such attribute");
    return invalidValue;
  }
  int32_t op = -1;
  take(op, value, bytes);
  int result =
      note(function,
           std::string(attribute == DescTransA ? "TRANSA" : "TRANSB") + ", " +
               (op == OpN   ? "N"
                : op == OpT ? "T"
                            : "?"));
  if (op != OpN && op != OpT)
    complain("no such operation");
  (attribute == DescTransA ? to.transA : to.transB) = op;
  return result;
}

int API(MatmulPreferenceCreate)(void **preference) {
  return make(preference, Preference(), "MatmulPreferenceCreate");
}

int API(MatmulPreferenceDestroy)(void *preference) {
  return destroy<Preference>(preference, "MatmulPreferenceDestroy");
}

int API(MatmulPreferenceSetAttribute)(void *preference, int attribute,
                                      const void *value, size_t bytes) {
  auto &to = *static_cast<Preference *>(preference);
  take(to.workspaceBytes, value, bytes);
  int result =
      note("MatmulPreferenceSetAttribute",
           "MAX_WORKSPACE_BYTES, " + std::to_string(to.workspaceBytes));
  if (attribute != preferenceMaxWorkspaceBytes)
    complain("no such attribute");
  return result;
}

int API(MatmulAlgoGetHeuristic)(void *handle, void *desc, void *a, void *b,
                                void *c, void *d, void *preference,
                                int requested, void *results, int *found) {
  int result = note("MatmulAlgoGetHeuristic", std::to_string(requested));
  if (!handle || !desc || !a || !b || !d || !preference || c != d)
    complain("invalid arguments of a matmul");
  else
    checkSizes(*static_cast<Desc *>(desc), *static_cast<Layout *>(a),
               *static_cast<Layout *>(b), *static_cast<Layout *>(d));
  *found = result == 0 ? fake.found : 0;
  if (*found == 0)
    return result;
  // All of it is written: a result that is too small shows with a sanitizer.
  HeuristicResult made = {};
  std::memcpy(made.algorithm.data, &algorithmMark, sizeof(algorithmMark));
  made.workspaceBytes = static_cast<Preference *>(preference)->workspaceBytes;
#ifdef FAKE_HIPBLASLT
  made.algorithm.maxWorkspaceBytes = made.workspaceBytes;
#endif
  made.state = fake.state;
  made.waves = 1;
  std::memcpy(results, &made, sizeof(made));
  return result;
}

int MATMUL(void *handle, void *descriptor, const void *alpha, const void *aData,
           void *aLayout, const void *bData, void *bLayout, const void *beta,
           const void *c, void *cLayout, void *dData, void *dLayout,
           const void *algorithm, void *workspace, size_t workspaceBytes,
           void *stream) {
  int result = note("Matmul", std::to_string(workspaceBytes));
  const auto &desc = *static_cast<Desc *>(descriptor);
  const auto &a = *static_cast<Layout *>(aLayout),
             &b = *static_cast<Layout *>(bLayout),
             &d = *static_cast<Layout *>(dLayout);
  if (!handle || !workspace || stream || c != dData || cLayout != dLayout)
    complain("not what was prepared");
  if (read<uint64_t>(algorithm, 0) != algorithmMark)
    complain("another algorithm than was found");
#ifdef FAKE_HIPBLASLT
  if (static_cast<const Algorithm *>(algorithm)->maxWorkspaceBytes !=
      workspaceBytes)
    complain("another workspace than was asked for");
#endif
  // All of the workspace is there.
  std::memset(workspace, 0xAB, workspaceBytes);
  if (readNumber(desc.scale, alpha, 0) != 1 ||
      readNumber(desc.scale, beta, 0) != 0)
    complain("alpha is not 1, or beta is not 0");
  checkSizes(desc, a, b, d);
  if (result)
    return result;
  bool transposedA = desc.transA == OpT, transposedB = desc.transB == OpT;
  uint64_t k = transposedA ? a.rows : a.cols;
  for (int32_t matrix = 0; matrix < d.count; ++matrix)
    for (uint64_t row = 0; row < d.rows; ++row)
      for (uint64_t col = 0; col < d.cols; ++col) {
        double sum = 0;
        for (uint64_t i = 0; i < k; ++i)
          sum += readNumber(a.type, aData,
                            transposedA ? getPosition(a, i, row, matrix)
                                        : getPosition(a, row, i, matrix)) *
                 readNumber(b.type, bData,
                            transposedB ? getPosition(b, col, i, matrix)
                                        : getPosition(b, i, col, matrix));
        writeNumber(d.type, dData, getPosition(d, row, col, matrix), sum);
      }
  return 0;
}

} // extern "C"
