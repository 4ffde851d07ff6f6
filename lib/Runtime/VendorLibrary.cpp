//===- VendorLibrary.cpp - Products by the vendor's own library -----------===//

#include "Runtime/VendorLibrary.h"

#include "CUDA/CublasLt.h"
#include "HIP/HipblasLt.h"

using namespace tessera::runtime;

VendorLibrary::~VendorLibrary() = default;

Expected<std::unique_ptr<VendorLibrary>>
VendorLibrary::prepare(Device &device, const LibraryProduct &product) {
  const DeviceInfo &info = device.info();
  if (info.target == "cuda")
    return prepareBlasLt(device, product, getCublasLt());
  if (info.target == "hip")
    return prepareBlasLt(device, product, getHipblasLt(info));
  return Status(StatusCode::NoDevice,
                "no library of a vendor's is known for " + info.target);
}
