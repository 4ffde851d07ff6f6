//===- OffloadBundle.h - Code objects of several chips in one ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
  /// The target ID, such as "gfx90a:sramecc+"; the whole ID for entries of
  /// other vendors.
  std::string target;
  /// The code object; for an entry that was read, a view into the bundle.
  std::string_view code;
};

/// Whether bytes are an offload bundle, compressed or not.
bool isOffloadBundle(std::string_view bytes);

/// Creates a bundle of the entries in order, after the empty host entry with
/// which Clang's bundles begin. Code objects are aligned to 4096 bytes.
/// `InvalidArgument` for an invalid target ID, for a duplicate one, and if only
/// some entries of a GPU set a feature, which would make the choice for a
/// device ambiguous.
Expected<std::string>
writeOffloadBundle(const std::vector<BundleEntry> &entries);

/// Reads the entries of a bundle, without the host entry. `InvalidArgument` for
/// bytes that are not a bundle, are truncated, or are compressed.
Expected<std::vector<BundleEntry>> readOffloadBundle(std::string_view bytes);

/// Chooses the entry for a device by the rules of target IDs; among several,
/// the one that sets the most features. `InvalidArgument`, with a list of the
/// entries, if none fits.
Expected<BundleEntry> selectBundleEntry(const std::vector<BundleEntry> &entries,
                                        const std::string &device);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_OFFLOADBUNDLE_H
