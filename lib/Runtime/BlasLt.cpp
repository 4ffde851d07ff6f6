//===- BlasLt.cpp - Matmuls by cuBLASLt or hipBLASLt ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations of the libraries' functions, found with dlopen.
//
//===----------------------------------------------------------------------===//

#include "BlasLt.h"
#include "Format.h"

#include <dlfcn.h>

#include <cstring>

using namespace tessera::runtime;

namespace {

using Handle = void *;
using Result = int;

/// cudaDataType and hipDataType.
enum : int {
  dataF32 = 0,
  dataF64 = 1,
  dataF16 = 2,
  dataI8 = 3,
  dataI32 = 10,
  dataBF16 = 14,
  dataF8E4M3 = 28,
  dataF8E5M2 = 29,
};

/// The fields after the algorithm in the result of the heuristic.
struct HeuristicTail {
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

/// The functions in use.
struct Functions {
  Result (*create)(Handle *);
  Result (*destroy)(Handle);
  void *getVersion;
  Result (*layoutCreate)(Handle *, int type, uint64_t rows, uint64_t cols,
                         int64_t leading);
  Result (*layoutSet)(Handle, int attribute, const void *, size_t);
  Result (*layoutDestroy)(Handle);
  Result (*descCreate)(Handle *, int compute, int scale);
  Result (*descSet)(Handle, int attribute, const void *, size_t);
  Result (*descDestroy)(Handle);
  Result (*preferenceCreate)(Handle *);
  Result (*preferenceSet)(Handle, int attribute, const void *, size_t);
  Result (*preferenceDestroy)(Handle);
  Result (*getHeuristic)(Handle, Handle desc, Handle a, Handle b, Handle c,
                         Handle d, Handle preference, int requested,
                         void *results, int *found);
  Result (*matmul)(Handle, Handle desc, const void *alpha, const void *a,
                   Handle aLayout, const void *b, Handle bLayout,
                   const void *beta, const void *c, Handle cLayout, void *d,
                   Handle dLayout, const void *algorithm, void *workspace,
                   size_t workspaceBytes, void *stream);
};

/// The workspace that the library may use: the size that PyTorch uses on
/// Hopper.
constexpr size_t workspaceBytes = size_t(32) << 20;

class BlasLt : public VendorLibrary {
public:
  BlasLt(Device &device, BlasLtInterface interface)
      : device(device), lt(std::move(interface)) {}
  ~BlasLt() override;

  Status open();
  Status prepare(const LibraryMatmul &matmul);
  Status run(const void *lhs, const void *rhs, void *out) override;

private:
  Status check(const char *function, Result result) const;
  Status load();
  Status findFunctions();
  Status setVersion(size_t version);
  int getDataType(ElementType type) const;
  /// The types of the sum and of its scale, with 1 and 0 of the scale type.
  Status chooseSum(const LibraryMatmul &matmul, int &compute, int &scale);
  Status makeLayout(const LibraryMatmul &matmul, Handle &made, int type,
                    int64_t rows, int64_t cols, int64_t stride);

  Device &device;
  BlasLtInterface lt;
  std::string file;
  void *library = nullptr;
  Functions call = {};
  Handle handle = nullptr, desc = nullptr, a = nullptr, b = nullptr,
         d = nullptr;
  /// The heuristic's result, an algorithm first.
  std::vector<uint64_t> heuristic;
  void *workspace = nullptr;
  /// 1 and 0 of the scale's type.
  alignas(8) unsigned char one[8] = {}, zero[8] = {};
};

} // namespace

BlasLt::~BlasLt() {
  for (Handle layout : {a, b, d})
    if (layout)
      call.layoutDestroy(layout);
  if (desc)
    call.descDestroy(desc);
  if (handle)
    call.destroy(handle);
  if (workspace)
    (void)device.free(workspace);
  // The library stays loaded: it keeps threads and contexts of its own.
}

Status BlasLt::check(const char *function, Result result) const {
  if (result == 0)
    return Status::success();
  return Status(result == lt.notSupported ? StatusCode::InvalidArgument
                                          : StatusCode::Internal,
                format("%s%s: %s %d", lt.prefix.c_str(), function,
                       lt.statusType.c_str(), result));
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Status BlasLt::load() {
  std::string tried;
  for (const std::string &name : lt.files) {
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      file = name;
      return Status::success();
    }
    tried += (tried.empty() ? "" : ", ") + name;
    // It begins with another name where what the library itself needs is not
    // there.
    const char *reason = dlerror();
    if (reason && std::strncmp(reason, name.c_str(), name.size()) != 0)
      tried += std::string(" (") + reason + ")";
  }
  return Status(StatusCode::NoDevice,
                lt.name + " not found (" + tried +
                    "); add its folder to LD_LIBRARY_PATH");
}

Status BlasLt::findFunctions() {
  std::string missing;
  auto find = [&](auto &function, const char *suffix) {
    std::string symbol = lt.prefix + suffix;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, symbol.c_str()));
    if (!function)
      missing += (missing.empty() ? "" : ", ") + symbol;
  };
  find(call.create, "Create");
  find(call.destroy, "Destroy");
  find(call.getVersion, "GetVersion");
  find(call.layoutCreate, "MatrixLayoutCreate");
  find(call.layoutSet, "MatrixLayoutSetAttribute");
  find(call.layoutDestroy, "MatrixLayoutDestroy");
  find(call.descCreate, "MatmulDescCreate");
  find(call.descSet, "MatmulDescSetAttribute");
  find(call.descDestroy, "MatmulDescDestroy");
  find(call.preferenceCreate, "MatmulPreferenceCreate");
  find(call.preferenceSet, "MatmulPreferenceSetAttribute");
  find(call.preferenceDestroy, "MatmulPreferenceDestroy");
  find(call.getHeuristic, "MatmulAlgoGetHeuristic");
  find(call.matmul, "Matmul");
  if (missing.empty())
    return Status::success();
  return Status(StatusCode::NoDevice,
                lt.name + " (" + file +
                    ") lacks documented functions: " + missing);
}

Status BlasLt::setVersion(size_t version) {
  auto formatVersion = [&](size_t number) {
    return format("%zu.%zu.%zu", number / lt.majorUnit,
                  number % lt.majorUnit / 100, number % 100);
  };
  name = lt.name + " " + formatVersion(version);
  if (version >= lt.firstVersion)
    return Status::success();
  return Status(StatusCode::NoDevice,
                name + " (" + file + ") has a different interface than " +
                    formatVersion(lt.firstVersion) + ", of " + lt.firstRelease +
                    ", and later releases; add the folder of such a release to "
                    "LD_LIBRARY_PATH");
}

Status BlasLt::open() {
  Status status = load();
  if (status.ok())
    status = findFunctions();
  if (!status.ok())
    return status;
  if (!lt.hasVersionOfHandle) {
    status = setVersion(reinterpret_cast<size_t (*)()>(call.getVersion)());
    return status.ok() ? check("Create", call.create(&handle)) : status;
  }
  status = check("Create", call.create(&handle));
  if (!status.ok())
    return status;
  int version = 0;
  status = check("GetVersion", reinterpret_cast<Result (*)(Handle, int *)>(
                                   call.getVersion)(handle, &version));
  return status.ok() ? setVersion(static_cast<size_t>(version)) : status;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

int BlasLt::getDataType(ElementType type) const {
  switch (type) {
  case ElementType::F16:
    return dataF16;
  case ElementType::BF16:
    return dataBF16;
  case ElementType::F32:
    return dataF32;
  case ElementType::F64:
    return dataF64;
  case ElementType::I8:
    return dataI8;
  case ElementType::I32:
    return dataI32;
  case ElementType::F8E4M3FN:
    return dataF8E4M3;
  case ElementType::F8E5M2:
    return dataF8E5M2;
  case ElementType::F8E4M3FNUZ:
    return lt.dataF8E4M3FNUZ;
  case ElementType::F8E5M2FNUZ:
    return lt.dataF8E5M2FNUZ;
  default:
    return BlasLtInterface::none;
  }
}

Status BlasLt::chooseSum(const LibraryMatmul &matmul, int &compute,
                         int &scale) {
  switch (matmul.sum) {
  case ElementType::F16:
    compute = lt.compute16F, scale = dataF16;
    one[1] = 0x3C;
    break;
  case ElementType::F64:
    compute = lt.compute64F, scale = dataF64;
    one[7] = 0x3F, one[6] = 0xF0;
    break;
  case ElementType::I32:
    compute = lt.compute32I, scale = dataI32;
    one[0] = 1;
    break;
  default:
    compute = matmul.tf32 ? lt.compute32FFastTF32 : lt.compute32F;
    scale = dataF32;
    one[3] = 0x3F, one[2] = 0x80;
    break;
  }
  if (compute != BlasLtInterface::none)
    return Status::success();
  return Status(StatusCode::InvalidArgument, lt.name +
                                                 " does not accumulate in " +
                                                 elementTypeName(matmul.sum));
}

Status BlasLt::makeLayout(const LibraryMatmul &matmul, Handle &made, int type,
                          int64_t rows, int64_t cols, int64_t stride) {
  // `rows` run fastest.
  Status status =
      check("MatrixLayoutCreate",
            call.layoutCreate(&made, type, static_cast<uint64_t>(rows),
                              static_cast<uint64_t>(cols), rows));
  if (!status.ok() || matmul.matrices <= 1)
    return status;
  auto count = static_cast<int32_t>(matmul.matrices);
  status =
      check("MatrixLayoutSetAttribute",
            call.layoutSet(made, lt.layoutBatchCount, &count, sizeof(count)));
  if (status.ok())
    status = check(
        "MatrixLayoutSetAttribute",
        call.layoutSet(made, lt.layoutBatchStride, &stride, sizeof(stride)));
  return status;
}

Status BlasLt::prepare(const LibraryMatmul &matmul) {
  int lhs = getDataType(matmul.lhs), rhs = getDataType(matmul.rhs),
      out = getDataType(matmul.out);
  for (auto [number, type] :
       {std::pair(lhs, matmul.lhs), {rhs, matmul.rhs}, {out, matmul.out}})
    if (number == BlasLtInterface::none)
      return Status(StatusCode::InvalidArgument,
                    lt.name + " does not support element type " +
                        elementTypeName(type));
  int compute = BlasLtInterface::none, scale = dataF32;
  Status status = chooseSum(matmul, compute, scale);
  if (status.ok())
    status = check("MatmulDescCreate", call.descCreate(&desc, compute, scale));
  // It counts by columns: a row-major matmul is that of the transposed operands
  // in the other order, out^T = rhs^T * lhs^T.
  auto transpose = [&](int attribute, bool isTransposed) {
    int32_t op = isTransposed ? lt.opT : lt.opN;
    return check("MatmulDescSetAttribute",
                 call.descSet(desc, attribute, &op, sizeof(op)));
  };
  if (status.ok())
    status = transpose(lt.descTransA, matmul.transposedRhs);
  if (status.ok())
    status = transpose(lt.descTransB, matmul.transposedLhs);
  auto layout = [&](Handle &made, int type, int64_t rows, int64_t cols,
                    int64_t stride) {
    return makeLayout(matmul, made, type, rows, cols, stride);
  };
  if (status.ok())
    status = matmul.transposedRhs
                 ? layout(a, rhs, matmul.k, matmul.n, matmul.rhsStride)
                 : layout(a, rhs, matmul.n, matmul.k, matmul.rhsStride);
  if (status.ok())
    status = matmul.transposedLhs
                 ? layout(b, lhs, matmul.m, matmul.k, matmul.lhsStride)
                 : layout(b, lhs, matmul.k, matmul.m, matmul.lhsStride);
  if (status.ok())
    status = layout(d, out, matmul.n, matmul.m, matmul.outStride);
  if (status.ok())
    status = device.allocate(workspaceBytes, &workspace);
  if (!status.ok())
    return status;
  Handle preference = nullptr;
  status = check("MatmulPreferenceCreate", call.preferenceCreate(&preference));
  if (!status.ok())
    return status;
  status = check("MatmulPreferenceSetAttribute",
                 call.preferenceSet(preference, lt.preferenceWorkspace,
                                    &workspaceBytes, sizeof(workspaceBytes)));
  heuristic.assign((lt.algorithmBytes + sizeof(HeuristicTail)) / 8, 0);
  int found = 0;
  if (status.ok())
    status = check("MatmulAlgoGetHeuristic",
                   call.getHeuristic(handle, desc, a, b, d, d, preference, 1,
                                     heuristic.data(), &found));
  call.preferenceDestroy(preference);
  if (!status.ok())
    return status;
  if (found == 0)
    return Status(StatusCode::InvalidArgument,
                  lt.name + " has no algorithm for this matmul");
  // The rest of a result holds if this is success.
  HeuristicTail tail;
  std::memcpy(&tail, heuristic.data() + lt.algorithmBytes / 8, sizeof(tail));
  return check("MatmulAlgoGetHeuristic", tail.state);
}

Status BlasLt::run(const void *lhs, const void *rhs, void *out) {
  return check("Matmul", call.matmul(handle, desc, one, rhs, a, lhs, b, zero,
                                     out, d, out, d, heuristic.data(),
                                     workspace, workspaceBytes, nullptr));
}

Expected<std::unique_ptr<VendorLibrary>>
tessera::runtime::prepareBlasLt(Device &device, const LibraryMatmul &matmul,
                                BlasLtInterface interface) {
  auto library = std::make_unique<BlasLt>(device, std::move(interface));
  Status status = library->open();
  if (status.ok())
    status = library->prepare(matmul);
  if (!status.ok())
    return status;
  return std::unique_ptr<VendorLibrary>(std::move(library));
}
