# The configuration of test/ and of examples/.
#
# Features, for REQUIRES and UNSUPPORTED:
#   can-run-TARGET      a device of that target is here (cuda, hip, vulkan, opencl, level-zero)
#   can-run-TARGET-CHIP  a device of that chip is here (can-run-cuda-sm_90a)
#   can-run-vulkan-lavapipe  Mesa's lavapipe with cooperative matrices was fetched (%software lavapipe
#                       starts a program with it), can-run-vulkan-stock the distribution's without
#   can-compile-ptx     there is a ptxas (substitution %ptxas)
#   can-validate-spirv  there is a spirv-val
#   host-avx512         this machine's CPU has AVX-512
#   asan                the tools under test were built with the address sanitizer
#
# A folder whose tests run on a device says `config.parallelism_group = "device"` in its
# lit.local.cfg: they then run one at a time, since they would measure and starve each other.

import os
import shutil
import subprocess

import lit.formats
import lit.util

config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]

bin_dir = os.path.join(config.tessera_binary_dir, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
for name, value in os.environ.items():
    if name.startswith(("TESSERA_", "CUDA_", "HIP_", "ROCR_", "VK_", "OCL_", "ZE_")):
        config.environment[name] = value

# Compiled programs of other runs and other users do not decide over a test.
config.environment["TESSERA_CACHE_DIR"] = "off"

config.substitutions += [
    ("%tessera_src", config.tessera_source_dir),
    ("%tessera_obj", config.tessera_binary_dir),
]

# A test that hangs fails by itself. lit needs psutil for this (package python3-psutil).
if lit_config.maxIndividualTestTimeIsSupported[0] and not lit_config.maxIndividualTestTime:
    # Since lit 23 the suite's configuration holds the limit, and lit_config's is read-only.
    holder = config if hasattr(config, "maxIndividualTestTime") else lit_config
    holder.maxIndividualTestTime = 600 if config.sanitizers else 180

# Devices, as gpu-runner sees them: one line each, which starts with the target's name.
lit_config.parallelism_groups["device"] = 1
runner = os.path.join(bin_dir, "gpu-runner")
if os.path.exists(runner):
    probe = subprocess.run(
        [runner, "--list-devices"], env=config.environment, capture_output=True, text=True
    )
    targets = {line.split()[0].split(":")[0] for line in probe.stdout.splitlines() if line.strip()}
    devices = targets & {"cuda", "hip", "vulkan", "opencl", "level-zero"}
    config.available_features.update("can-run-" + target for target in devices)
    chips = {tuple(line.split()[:2]) for line in probe.stdout.splitlines() if len(line.split()) > 1}
    config.available_features.update(f"can-run-{at.split(':')[0]}-{chip}" for at, chip in chips)
    if devices and config.name == "examples":
        config.parallelism_group = "device"

# Programs that stand for a device; `scripts/software-devices.sh --fetch` gets them.
software = os.path.join(config.tessera_source_dir, "scripts", "software-devices.sh")
store = os.environ.get("TESSERA_DEVICES") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tessera", "devices"
)
config.environment["TESSERA_DEVICES"] = store
config.substitutions.append(("%software", software))
for name in ("lavapipe", "stock"):
    if os.path.exists(os.path.join(store, name, "complete")):
        config.available_features.add("can-run-vulkan-" + name)

# The suite's spirv-val comes with it.
config.environment["PATH"] += os.pathsep + os.path.join(store, "lavapipe", "bin")

path = config.environment["PATH"] + os.pathsep + "/usr/local/cuda/bin"
ptxas = shutil.which("ptxas", path=path)
if ptxas:
    config.available_features.add("can-compile-ptx")
    config.substitutions.append(("%ptxas", ptxas))
if shutil.which("spirv-val", path=path):
    config.available_features.add("can-validate-spirv")

try:
    with open("/proc/cpuinfo") as cpuinfo:
        if " avx512f " in cpuinfo.read():
            config.available_features.add("host-avx512")
except OSError:
    pass

if "address" in config.sanitizers:
    config.available_features.add("asan")
