if (options.target == "cuda")
  return;
if (StringSwitch<bool>(target).Case("cuda-too", true).Default(false))
  return;
