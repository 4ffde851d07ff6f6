//===- OffloadBundle.h - Code objects of several chips in one ---*- C++ -*-===//
//
// The uncompressed bundle of Clang's "Offload Bundler", section "Bundled Code
// Object Layout", which HIP's runtime loads as well:
//
//   24 bytes   __CLANG_OFFLOAD_BUNDLE__
//    8 bytes   number of entries (little-endian, as all numbers)
//   for each entry
//    8 bytes   offset of the code object from the beginning of the bundle
//    8 bytes   its size
//    8 bytes   length of the entry's ID
//              the ID: "hipv4-amdgcn-amd-amdhsa--gfx942"
//   the code objects, at their offsets
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_OFFLOADBUNDLE_H
#define TESSERA_RUNTIME_OFFLOADBUNDLE_H

#include "Runtime/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

struct BundleEntry {
  /// "gfx90a:sramecc+"; of an entry that is no AMD GPU's, its whole ID.
  std::string target;
  /// A code object. Of an entry that was read, a part of the bundle.
  std::string_view code;
};

/// Whether bytes are a bundle, compressed or not.
bool isOffloadBundle(std::string_view bytes);

/// A bundle of the entries, in their order, behind the empty entry for the host
/// with which Clang's bundles begin. Code objects are aligned to 4096 bytes.
/// `InvalidArgument` for a target that is no target ID, for one that is there
/// twice, and where only some of a processor's entries settle a feature: which
/// one a device gets would be open.
Expected<std::string>
writeOffloadBundle(const std::vector<BundleEntry> &entries);

/// The entries of a bundle, without the host's. `InvalidArgument` for bytes
/// that are none, are cut short, or are compressed.
Expected<std::vector<BundleEntry>> readOffloadBundle(std::string_view bytes);

/// The entry for a device by the rules of target IDs; of several, the one that
/// settles the most features. `InvalidArgument`, with what the bundle holds,
/// where none fits.
Expected<BundleEntry> selectBundleEntry(const std::vector<BundleEntry> &entries,
                                        const std::string &device);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_OFFLOADBUNDLE_H
