// The name as such is not a comparison.
options.target = "cuda";
if ("cuda" != target && !llvm::is_contained({"cpu", "cuda"}, target))
  return;
