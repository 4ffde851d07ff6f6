TargetInfo target{"cuda"};
target.aliases = {"cuda-too"};
bool isOwn = name == "cuda";
