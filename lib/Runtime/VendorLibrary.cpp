//===- VendorLibrary.cpp - Products by the vendor's own library -----------===//

#include "Runtime/VendorLibrary.h"

#include "CUDA/CublasLt.h"

using namespace tessera::runtime;

VendorLibrary::~VendorLibrary() = default;

Expected<std::unique_ptr<VendorLibrary>>
VendorLibrary::prepare(Device &device, const LibraryProduct &product) {
  if (device.info().target == "cuda")
    return prepareCublasLt(device, product);
  return Status(StatusCode::NoDevice, "no library of a vendor's is known for " +
                                          device.info().target);
}
