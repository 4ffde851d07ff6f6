//===- RunnerFunctions.cpp - Functions of upstream's runners --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/RunnerFunctions.h"

#include "Format.h"
#include "Runtime/Session.h"

// Templates alone: the format of memrefs is upstream's.
#include "mlir/ExecutionEngine/RunnerUtils.h"

#include <chrono>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static float widenF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31,
           fraction = bits & 0x3ff;
  float value;
  if (exponent == 0) {
    // Zero and subnormal numbers: multiples of 2^-24.
    value = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -value : value;
  }
  uint32_t wide = exponent == 31 ? 0x7f800000 : (exponent + 112) << 23;
  wide |= sign | fraction << 13;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

static float widenBF16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

namespace {
/// Elements that print and compare as floats.
struct F16Element {
  uint16_t bits;
  friend bool operator==(F16Element l, F16Element r) {
    return widenF16(l.bits) == widenF16(r.bits);
  }
  friend std::ostream &operator<<(std::ostream &os, F16Element element) {
    return os << widenF16(element.bits);
  }
};
struct BF16Element {
  uint16_t bits;
  friend bool operator==(BF16Element l, BF16Element r) {
    return widenBF16(l.bits) == widenBF16(r.bits);
  }
  friend std::ostream &operator<<(std::ostream &os, BF16Element element) {
    return os << widenBF16(element.bits);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

/// The session of host code, which has called one of these functions.
static Session *enterSession() {
  Session *session = currentSession();
  if (session)
    session->noteEffect();
  return session;
}

/// Without a session, which host code always has, nothing is printed.
static void print(const std::string &text) {
  if (Session *session = enterSession())
    session->print(text);
}

/// Reports a memref that cannot be read, and makes its memory current. Returns
/// whether it must be printed.
static bool prepareMemRef(int64_t rank, const void *data, int64_t offset,
                          const int64_t *sizes, const int64_t *strides,
                          size_t elementBytes) {
  Session *session = enterSession();
  return session &&
         session->prepareRead(rank, data, offset, sizes, strides, elementBytes);
}

template <typename T>
static void printMemRef(const char *kind, const DynamicMemRefType<T> &memref) {
  if (!prepareMemRef(memref.rank, memref.data, memref.offset, memref.sizes,
                     memref.strides, sizeof(T)))
    return;
  std::ostringstream os;
  os << kind << " ";
  printMemRefMetaData(os, memref);
  os << " data = \n";
  bool isEmpty = false;
  for (int64_t dim = 0; dim < memref.rank; ++dim)
    isEmpty |= memref.sizes[dim] == 0;
  // Upstream reads an element of an array that has none.
  if (isEmpty || memref.rank == 0)
    os << "[";
  if (!isEmpty)
    impl::MemRefDataPrinter<T>::print(os, memref.data, memref.rank, memref.rank,
                                      memref.offset, memref.sizes,
                                      memref.strides);
  if (isEmpty || memref.rank == 0)
    os << "]";
  os << '\n';
  print(os.str());
}

template <typename T>
static void printUnranked(int64_t rank, void *descriptor) {
  UnrankedMemRefType<T> memref{rank, descriptor};
  printMemRef("Unranked Memref", DynamicMemRefType<T>(memref));
}

template <typename T>
static void printUnrankedByPointer(UnrankedMemRefType<T> *memref) {
  printMemRef("Unranked Memref", DynamicMemRefType<T>(*memref));
}

template <typename T>
static void printShapeByPointer(UnrankedMemRefType<T> *memref) {
  std::ostringstream os;
  os << "Unranked Memref ";
  printMemRefMetaData(os, DynamicMemRefType<T>(*memref));
  os << "\n";
  print(os.str());
}

template <typename T, int rank>
static void printRankedByPointer(StridedMemRefType<T, rank> *memref) {
  printMemRef("Memref", DynamicMemRefType<T>(*memref));
}

/// The number of elements that differ, or -1 for different shapes.
template <typename T>
static int64_t countErrors(const UnrankedMemRefType<T> &actualMemRef,
                           const UnrankedMemRefType<T> &expectedMemRef) {
  DynamicMemRefType<T> actual(actualMemRef), expected(expectedMemRef);
  for (const DynamicMemRefType<T> &memref : {actual, expected})
    if (!prepareMemRef(memref.rank, memref.data, memref.offset, memref.sizes,
                       memref.strides, sizeof(T)))
      return -1;
  bool isSame = actual.rank == expected.rank;
  for (int64_t dim = 0; isSame && dim < actual.rank; ++dim)
    isSame = actual.sizes[dim] == expected.sizes[dim];
  if (!isSame)
    return -1;
  // Upstream takes both to have the strides of the first.
  for (int64_t dim = 0; dim < actual.rank; ++dim)
    if (actual.strides[dim] != expected.strides[dim] ||
        actual.offset != expected.offset)
      return -1;
  std::ostringstream os;
  int64_t printed = 0;
  int64_t errors = impl::MemRefDataVerifier<T>::verify(
      os, actual.data, expected.data, actual.rank, actual.offset, actual.sizes,
      actual.strides, printed);
  if (Session *session = enterSession(); session && printed > 0)
    session->printError(os.str());
  return errors;
}

template <typename T>
static int64_t verifyUnranked(int64_t rank, void *actual, int64_t otherRank,
                              void *expected) {
  return countErrors<T>({rank, actual}, {otherRank, expected});
}

template <typename T>
static int64_t verifyByPointer(UnrankedMemRefType<T> *actual,
                               UnrankedMemRefType<T> *expected) {
  return countErrors<T>(*actual, *expected);
}

/// Copies elements between memrefs of one shape, for `memref.copy` of memory
/// that is not contiguous.
static void copyElements(int64_t elementBytes, UnrankedMemRefType<char> *from,
                         UnrankedMemRefType<char> *to) {
  DynamicMemRefType<char> source(*from), target(*to);
  auto bytes = static_cast<size_t>(elementBytes);
  std::vector<int64_t> index(static_cast<size_t>(source.rank), 0);
  for (int64_t dim = 0; dim < source.rank; ++dim)
    if (source.sizes[dim] <= 0)
      return;
  if (Session *session = enterSession()) {
    session->accessFromHost(source.data, /*isWrite=*/false);
    session->accessFromHost(target.data, /*isWrite=*/true);
    if (!session->status().ok())
      return;
  }
  char *read = source.data + source.offset * elementBytes;
  char *write = target.data + target.offset * elementBytes;
  while (true) {
    std::memcpy(write, read, bytes);
    // To the next index, the last dimension first.
    int64_t dim = source.rank - 1;
    for (; dim >= 0; --dim) {
      auto &at = index[static_cast<size_t>(dim)];
      read += source.strides[dim] * elementBytes;
      write += target.strides[dim] * elementBytes;
      if (++at < source.sizes[dim])
        break;
      read -= at * source.strides[dim] * elementBytes;
      write -= at * target.strides[dim] * elementBytes;
      at = 0;
    }
    if (dim < 0)
      return;
  }
}

void *tessera::runtime::getMemRefCopy() {
  return reinterpret_cast<void *>(&copyElements);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static void writeI64(int64_t value) { print(format("%" PRId64, value)); }
static void writeU64(uint64_t value) { print(format("%" PRIu64, value)); }
static void writeF32(float value) { print(format("%g", value)); }
static void writeF64(double value) { print(format("%lg", value)); }
static void writeF16(uint16_t bits) { writeF32(widenF16(bits)); }
static void writeBF16(uint16_t bits) { writeF32(widenBF16(bits)); }
static void writeText(const char *text) { print(text); }
static void writeOpen() { print("( "); }
static void writeClose() { print(" )"); }
static void writeComma() { print(", "); }
static void writeNewline() { print("\n"); }
static void writeFlops(double flops) {
  print(format("%lf GFLOPS\n", flops / 1e9));
}

static void writeThread() {
  std::ostringstream os;
  os << "Current thread id: " << std::this_thread::get_id() << '\n';
  print(os.str());
}

static double readClock() {
  (void)enterSession();
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
static int64_t readNanoseconds() {
  (void)enterSession();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct Names {
  template <typename Function>
  void add(std::string name, std::vector<std::string> arguments,
           std::string result, Function *function) {
    functions.push_back({std::move(name), std::move(arguments),
                         std::move(result),
                         reinterpret_cast<void *>(function)});
  }

  /// The functions of one element type.
  template <typename T>
  void addElement(const std::string &suffix, const std::string &element) {
    std::string type = "memref<*x" + element + ">";
    add(cInterfacePrefix + ("printMemref" + suffix), {type}, "",
        &printUnrankedByPointer<T>);
    add("printMemref" + suffix, {type}, "", &printUnranked<T>);
    add(cInterfacePrefix + ("printMemrefShape" + suffix), {type}, "",
        &printShapeByPointer<T>);
    addRanked<T, 0>(suffix, element);
    addRanked<T, 1>(suffix, element);
    addRanked<T, 2>(suffix, element);
    addRanked<T, 3>(suffix, element);
    addRanked<T, 4>(suffix, element);
  }

  template <typename T, int rank>
  void addRanked(const std::string &suffix, const std::string &element) {
    std::string type = "memref<";
    for (int dim = 0; dim < rank; ++dim)
      type += "?x";
    add(cInterfacePrefix + ("printMemref" + std::to_string(rank)) + "d" +
            suffix,
        {type + element + ">"}, "", &printRankedByPointer<T, rank>);
  }

  template <typename T>
  void addVerifier(const std::string &suffix, const std::string &element) {
    std::string type = "memref<*x" + element + ">";
    add(cInterfacePrefix + ("verifyMemRef" + suffix), {type, type}, "i64",
        &verifyByPointer<T>);
    add("verifyMemRef" + suffix, {type, type}, "i64", &verifyUnranked<T>);
  }

  std::vector<RunnerFunction> functions;
};
} // namespace

static std::vector<RunnerFunction> makeFunctions() {
  Names names;
  names.addElement<int8_t>("I8", "i8");
  names.addElement<int16_t>("I16", "i16");
  names.addElement<int32_t>("I32", "i32");
  names.addElement<int64_t>("I64", "i64");
  names.addElement<uint64_t>("Ind", "index");
  names.addElement<F16Element>("F16", "f16");
  names.addElement<BF16Element>("BF16", "bf16");
  names.addElement<float>("F32", "f32");
  names.addElement<double>("F64", "f64");
  names.addElement<impl::complex32>("C32", "complex<f32>");
  names.addElement<impl::complex64>("C64", "complex<f64>");
  names.addVerifier<int8_t>("I8", "i8");
  names.addVerifier<int16_t>("I16", "i16");
  names.addVerifier<int32_t>("I32", "i32");
  names.addVerifier<int64_t>("I64", "i64");
  names.addVerifier<uint64_t>("Ind", "index");
  names.addVerifier<F16Element>("F16", "f16");
  names.addVerifier<BF16Element>("BF16", "bf16");
  names.addVerifier<float>("F32", "f32");
  names.addVerifier<double>("F64", "f64");
  names.addVerifier<impl::complex32>("C32", "complex<f32>");
  names.addVerifier<impl::complex64>("C64", "complex<f64>");
  names.add("printI64", {"i64"}, "", &writeI64);
  names.add("printU64", {"i64"}, "", &writeU64);
  names.add("printF16", {"i16"}, "", &writeF16);
  names.add("printBF16", {"i16"}, "", &writeBF16);
  names.add("printF32", {"f32"}, "", &writeF32);
  names.add("printF64", {"f64"}, "", &writeF64);
  names.add("printString", {"!llvm.ptr"}, "", &writeText);
  names.add("printCString", {"!llvm.ptr"}, "", &writeText);
  names.add("printOpen", {}, "", &writeOpen);
  names.add("printClose", {}, "", &writeClose);
  names.add("printComma", {}, "", &writeComma);
  names.add("printNewline", {}, "", &writeNewline);
  names.add("printFlops", {"f64"}, "", &writeFlops);
  names.add("mlirAsyncRuntimePrintCurrentThreadId", {}, "", &writeThread);
  names.add(std::string(cInterfacePrefix) + "printMemrefVector4x4xf32",
            {"memref<?x?xvector<4x4xf32>>"}, "",
            &printRankedByPointer<Vector2D<4, 4, float>, 2>);
  names.add("malloc", {"i64"}, "!llvm.ptr", &std::malloc);
  names.add("free", {"!llvm.ptr"}, "", &std::free);
  names.add("rtclock", {}, "f64", &readClock);
  names.add("nanoTime", {}, "i64", &readNanoseconds);
  names.add(std::string(cInterfacePrefix) + "nanoTime", {}, "i64",
            &readNanoseconds);
  return std::move(names.functions);
}

const std::vector<RunnerFunction> &tessera::runtime::listRunnerFunctions() {
  static const std::vector<RunnerFunction> functions = makeFunctions();
  return functions;
}

const RunnerFunction *
tessera::runtime::findRunnerFunction(std::string_view name) {
  for (const RunnerFunction &function : listRunnerFunctions())
    if (function.name == name)
      return &function;
  return nullptr;
}
