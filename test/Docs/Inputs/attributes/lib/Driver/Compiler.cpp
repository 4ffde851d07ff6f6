// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
bool has = op->hasAttr("tessera.group");
auto copy = find("tessera.copy"), other = find("tessera.copies");
