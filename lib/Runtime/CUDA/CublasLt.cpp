//===- CublasLt.cpp - Products by cuBLASLt --------------------------------===//
//
// Own declarations of the library's functions, found with dlopen. Types and
// numbers are those of its ABI (cuBLAS documentation, "Using the cuBLASLt
// API").
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"
#include "../Format.h"

#include <dlfcn.h>

using namespace tessera::runtime;

namespace {

using Handle = void *;
using Result = int;

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

/// cudaDataType.
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
/// cublasComputeType_t.
enum : int {
  compute16F = 64,
  compute32F = 68,
  compute32FFastTF32 = 77,
  compute64F = 70,
  compute32I = 72,
};
/// cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
/// cublasLtMatmulPreferenceAttributes_t.
enum : int { descTransA = 3, descTransB = 4 };
enum : int { layoutBatchCount = 5, layoutBatchStride = 6 };
enum : int { preferenceWorkspace = 1 };

/// The functions in use.
struct Functions {
  Result (*create)(Handle *);
  Result (*destroy)(Handle);
  size_t (*getVersion)();
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
                         Heuristic *, int *found);
  Result (*matmul)(Handle, Handle desc, const void *alpha, const void *a,
                   Handle aLayout, const void *b, Handle bLayout,
                   const void *beta, const void *c, Handle cLayout, void *d,
                   Handle dLayout, const void *algorithm, void *workspace,
                   size_t workspaceBytes, void *stream);
};

/// What the library may use besides: as much as PyTorch gives it on Hopper.
constexpr size_t workspaceBytes = size_t(32) << 20;

class CublasLt : public VendorLibrary {
public:
  explicit CublasLt(Device &device) : device(device) {}
  ~CublasLt() override;

  Status open();
  Status prepare(const LibraryProduct &product);
  Status run(const void *lhs, const void *rhs, void *out) override;

private:
  Status check(const char *function, Result result) const;

  Device &device;
  void *library = nullptr;
  Functions call = {};
  Handle handle = nullptr, desc = nullptr, a = nullptr, b = nullptr,
         d = nullptr;
  Heuristic heuristic = {};
  void *workspace = nullptr;
  /// 1 and 0 of the scale's type.
  alignas(8) unsigned char one[8] = {}, zero[8] = {};
};

} // namespace

CublasLt::~CublasLt() {
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

Status CublasLt::check(const char *function, Result result) const {
  if (result == 0)
    return Status::success();
  // CUBLAS_STATUS_NOT_SUPPORTED.
  return Status(result == 15 ? StatusCode::InvalidArgument
                             : StatusCode::Internal,
                format("%s: cublasStatus_t %d", function, result));
}

Status CublasLt::open() {
  std::string tried;
  for (const char *file :
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    tried += (tried.empty() ? "" : ", ") + std::string(file);
  }
  if (!library)
    return Status(StatusCode::NoDevice,
                  "cuBLASLt is not found (" + tried +
                      "); name its folder in LD_LIBRARY_PATH");
  bool isComplete = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, name));
    isComplete &= function != nullptr;
  };
  find(call.create, "cublasLtCreate");
  find(call.destroy, "cublasLtDestroy");
  find(call.getVersion, "cublasLtGetVersion");
  find(call.layoutCreate, "cublasLtMatrixLayoutCreate");
  find(call.layoutSet, "cublasLtMatrixLayoutSetAttribute");
  find(call.layoutDestroy, "cublasLtMatrixLayoutDestroy");
  find(call.descCreate, "cublasLtMatmulDescCreate");
  find(call.descSet, "cublasLtMatmulDescSetAttribute");
  find(call.descDestroy, "cublasLtMatmulDescDestroy");
  find(call.preferenceCreate, "cublasLtMatmulPreferenceCreate");
  find(call.preferenceSet, "cublasLtMatmulPreferenceSetAttribute");
  find(call.preferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  find(call.getHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(call.matmul, "cublasLtMatmul");
  if (!isComplete)
    return Status(StatusCode::NoDevice,
                  "cuBLASLt lacks functions of its documented interface");
  size_t version = call.getVersion();
  name = format("cuBLASLt %zu.%zu.%zu", version / 10000, version / 100 % 100,
                version % 100);
  return check("cublasLtCreate", call.create(&handle));
}

static int getDataType(ElementType type) {
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
  default:
    return -1;
  }
}

Status CublasLt::prepare(const LibraryProduct &product) {
  int lhs = getDataType(product.lhs), rhs = getDataType(product.rhs),
      out = getDataType(product.out);
  if (lhs < 0 || rhs < 0 || out < 0)
    return Status(StatusCode::InvalidArgument,
                  "cuBLASLt has no such element type");
  int compute, scale;
  switch (product.sum) {
  case ElementType::F16:
    compute = compute16F, scale = dataF16;
    one[1] = 0x3C;
    break;
  case ElementType::F64: {
    compute = compute64F, scale = dataF64;
    one[7] = 0x3F, one[6] = 0xF0;
    break;
  }
  case ElementType::I32:
    compute = compute32I, scale = dataI32;
    one[0] = 1;
    break;
  default:
    compute = product.tf32 ? compute32FFastTF32 : compute32F, scale = dataF32;
    one[3] = 0x3F, one[2] = 0x80;
    break;
  }
  if (Status status = check("cublasLtMatmulDescCreate",
                            call.descCreate(&desc, compute, scale));
      !status.ok())
    return status;
  // It counts by columns: a row-major product is that of the turned operands in
  // the other order, out^T = rhs^T * lhs^T.
  int turnA = product.turnedRhs, turnB = product.turnedLhs;
  call.descSet(desc, descTransA, &turnA, sizeof(turnA));
  call.descSet(desc, descTransB, &turnB, sizeof(turnB));
  auto layout = [&](Handle &made, int type, int64_t rows, int64_t cols,
                    int64_t stride) {
    // `rows` run fastest.
    Status status =
        check("cublasLtMatrixLayoutCreate",
              call.layoutCreate(&made, type, static_cast<uint64_t>(rows),
                                static_cast<uint64_t>(cols), rows));
    if (status.ok() && product.matrices > 1) {
      auto count = static_cast<int32_t>(product.matrices);
      call.layoutSet(made, layoutBatchCount, &count, sizeof(count));
      call.layoutSet(made, layoutBatchStride, &stride, sizeof(stride));
    }
    return status;
  };
  Status status = product.turnedRhs
                      ? layout(a, rhs, product.k, product.n, product.rhsStride)
                      : layout(a, rhs, product.n, product.k, product.rhsStride);
  if (status.ok())
    status = product.turnedLhs
                 ? layout(b, lhs, product.m, product.k, product.lhsStride)
                 : layout(b, lhs, product.k, product.m, product.lhsStride);
  if (status.ok())
    status = layout(d, out, product.n, product.m, product.outStride);
  if (status.ok())
    status = device.allocate(workspaceBytes, &workspace);
  if (!status.ok())
    return status;
  Handle preference = nullptr;
  status = check("cublasLtMatmulPreferenceCreate",
                 call.preferenceCreate(&preference));
  if (!status.ok())
    return status;
  call.preferenceSet(preference, preferenceWorkspace, &workspaceBytes,
                     sizeof(workspaceBytes));
  int found = 0;
  status = check("cublasLtMatmulAlgoGetHeuristic",
                 call.getHeuristic(handle, desc, a, b, d, d, preference, 1,
                                   &heuristic, &found));
  call.preferenceDestroy(preference);
  if (status.ok() && found == 0)
    return Status(StatusCode::InvalidArgument,
                  "cuBLASLt has nothing for this product");
  return status;
}

Status CublasLt::run(const void *lhs, const void *rhs, void *out) {
  return check("cublasLtMatmul",
               call.matmul(handle, desc, one, rhs, a, lhs, b, zero, out, d, out,
                           d, heuristic.algorithm, workspace, workspaceBytes,
                           nullptr));
}

Expected<std::unique_ptr<VendorLibrary>>
tessera::runtime::prepareCublasLt(Device &device,
                                  const LibraryProduct &product) {
  auto library = std::make_unique<CublasLt>(device);
  Status status = library->open();
  if (status.ok())
    status = library->prepare(product);
  if (!status.ok())
    return status;
  return std::unique_ptr<VendorLibrary>(std::move(library));
}
