# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The configuration of test/ and of examples/.
#
# Features, for REQUIRES and UNSUPPORTED:
#   can-run-TARGET      a device of that target is here (cuda, hip, vulkan, opencl, level-zero)
#   can-run-TARGET-CHIP  a device of that chip is here (can-run-cuda-sm_90a)
#   hip-launcher        what can-run-hip speaks of is seen under a command only (see below)
#   can-run-vulkan-lavapipe  Mesa's lavapipe with cooperative matrices was fetched (%software lavapipe
#                       starts a program with it), can-run-vulkan-stock the distribution's without
#   can-compile-ptx     there is a ptxas (substitution %ptxas)
#   can-disassemble-cubin  there is an nvdisasm (substitution %nvdisasm)
#   can-run-opencl-pocl  PoCL was fetched (%software pocl), can-run-opencl-rusticl Mesa's rusticl;
#                       under the address sanitizer, a software device must also open (`opens`)
#   can-validate-spirv  there is a spirv-val that knows the extensions that modules use
#   has-ocloc           there is Intel's offline compiler (%ocloc FILE.spv CHIP prints assembly);
#                       `scripts/intel-compiler.sh --fetch` gets it
#   can-run-mpi         there is an mpirun of Open MPI, and its libmpi.so.40
#   can-make-namespaces network namespaces can be made here (root, and iproute2's ip)
#   host-avx512         this machine's CPU has AVX-512
#   asserts             Tessera's own code has assertions, debug output and statistics
#   asan                the tools under test were built with the address sanitizer
#   long_tests          tests of many seconds, most of them in LLVM, run: unless lit has the parameter
#                       run_long_tests=false
#
# A folder whose tests run on a device has `config.parallelism_group = "device"` in its
# lit.local.cfg: they then run one at a time, since they would measure and starve each other.

import ctypes
import os
import re
import shlex
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
    if name.startswith(("TESSERA_", "CUDA_", "HIP_", "HSA_", "ROCR_", "VK_", "OCL_", "ZE_")):
        config.environment[name] = value

# Compiled programs of other runs and other users do not decide over a test.
config.environment["TESSERA_CACHE_DIR"] = "off"

config.substitutions += [
    ("%tessera_src", config.tessera_source_dir),
    ("%tessera_obj", config.tessera_binary_dir),
    ("%cc", config.c_compiler),
    ("%cxx", config.cxx_compiler),
]

# A test that hangs fails by itself; the limit is far beyond what a test takes on a busy machine.
# lit needs psutil for this (package python3-psutil).
if lit_config.maxIndividualTestTimeIsSupported[0] and not lit_config.maxIndividualTestTime:
    # Since lit 23 the suite's configuration holds the limit, and lit_config's is read-only.
    holder = config if hasattr(config, "maxIndividualTestTime") else lit_config
    holder.maxIndividualTestTime = 3600 if config.sanitizers else 1800

# Devices, as gpu-runner sees them: one line each, which starts with the target's name.
lit_config.parallelism_groups["device"] = 1
runner = os.path.join(bin_dir, "gpu-runner")


def probe_devices(launcher=()):
    """(target, number, chip) of each device that gpu-runner shows, and all of its output."""
    probe = subprocess.run(
        [*launcher, runner, "--list-devices"],
        env=config.environment,
        capture_output=True,
        text=True,
    )
    lines = [line.split() for line in probe.stdout.splitlines()]
    devices = [(*line[0].split(":"), line[1]) for line in lines if len(line) > 1 and ":" in line[0]]
    return devices, probe.stdout + probe.stderr


def add_features(devices):
    for target, _, chip in devices:
        if target != "cpu":
            config.available_features.update(["can-run-" + target, f"can-run-{target}-{chip}"])


# The tests in Execution/HIP may run under a command that shows a device which is none of this
# machine's: TESSERA_HIP_LAUNCHER="rocjitsu --config GPU.json --", or lit's parameter hip_launcher.
launcher = lit_config.params.get("hip_launcher", os.environ.get("TESSERA_HIP_LAUNCHER", ""))
config.substitutions.append(("%run-hip", f"{launcher} gpu-runner --target=hip".strip()))
if os.path.exists(runner):
    devices, _ = probe_devices()
    add_features(devices)
    if config.name == "examples" and any(target != "cpu" for target, _, _ in devices):
        config.parallelism_group = "device"
    if launcher:
        devices, output = probe_devices(shlex.split(launcher))
        devices = [device for device in devices if device[0] == "hip"]
        if not devices:
            lit_config.fatal(f"no hip device under TESSERA_HIP_LAUNCHER='{launcher}':\n{output}")
        add_features(devices)
        config.available_features.add("hip-launcher")
        if config.name == "test":
            chips = ", ".join(chip for _, _, chip in devices)
            lit_config.note(f"Execution/HIP runs under '{launcher}' ({chips}): not on hardware")

# The tests of the fit of the model of schedules.
if subprocess.run(
    ["python3", "-c", "import numpy"], env=config.environment, capture_output=True
).returncode == 0:
    config.available_features.add("numpy")

# Programs that stand for a device; `scripts/software-devices.sh --fetch` gets them.
software = os.path.join(config.tessera_source_dir, "scripts", "software-devices.sh")
store = os.environ.get("TESSERA_DEVICES") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tessera", "devices"
)
config.environment["TESSERA_DEVICES"] = store
# Drivers that are programs keep memory until the process ends, and the leak detector does not
# recognize allocations of a dynamic loader that was started by its name.
sanitized = "address" in config.sanitizers
config.substitutions.append(
    ("%software", f"env ASAN_OPTIONS=detect_leaks=0 {software}" if sanitized else software)
)


def opens(name):
    """Whether the device can be opened: the sanitizer's thread descriptors are lost when a thread
    that loaded PoCL ends, with the C library of PoCL's suite."""
    if not sanitized:
        return True
    result = subprocess.run(
        [software, name, os.path.join(bin_dir, "gpu-runner"), "--list-devices"],
        capture_output=True,
        text=True,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
    )
    if result.returncode != 0:
        reason = re.search(r"AddressSanitizer.*", result.stderr)
        lit_config.note(f"{name} is not used: {reason[0] if reason else result.stderr[-200:]}")
    return result.returncode == 0


for target, name in (
    ("vulkan", "lavapipe"),
    ("vulkan", "stock"),
    ("opencl", "pocl"),
    ("opencl", "rusticl"),
):
    if os.path.exists(os.path.join(store, name, "complete")) and opens(name):
        config.available_features.add(f"can-run-{target}-{name}")

# The suite's spirv-val comes with it.
config.environment["PATH"] += os.pathsep + os.path.join(store, "lavapipe", "bin")

compiler = os.path.join(config.tessera_source_dir, "scripts", "intel-compiler.sh")
config.substitutions.append(("%ocloc", compiler))
if os.path.exists(os.path.join(store, "intel-compiler", "complete")) or shutil.which("ocloc"):
    config.available_features.add("has-ocloc")
    # Its suite's tools, which know the extensions that Intel's modules use.
    config.environment["PATH"] = os.pathsep.join(
        [os.path.join(store, "intel-compiler", "bin"), config.environment["PATH"]]
    )

path = config.environment["PATH"] + os.pathsep + "/usr/local/cuda/bin"
ptxas = shutil.which("ptxas", path=path)
if ptxas:
    config.available_features.add("can-compile-ptx")
    config.substitutions.append(("%ptxas", ptxas))
nvdisasm = shutil.which("nvdisasm", path=path)
if nvdisasm:
    config.available_features.add("can-disassemble-cubin")
    config.substitutions.append(("%nvdisasm", nvdisasm))
# Releases before v2025.3 reject the capabilities of SPV_KHR_bfloat16 and others as unknown. The
# first of several releases on the PATH that is new enough comes before the others, after the tools
# under test.
for folder in path.split(os.pathsep):
    validator = shutil.which("spirv-val", path=folder)
    if not validator:
        continue
    version = subprocess.run([validator, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"v(\d+)\.(\d+)", version)
    if match and (int(match[1]), int(match[2])) >= (2025, 3):
        folders = config.environment["PATH"].split(os.pathsep)
        config.environment["PATH"] = os.pathsep.join(folders[:2] + [folder] + folders[2:])
        config.available_features.add("can-validate-spirv")
        break

if shutil.which("mpirun"):
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    try:
        ctypes.CDLL("libmpi.so.40", mode=os.RTLD_LAZY)
        if "Open MPI" in version:
            config.available_features.add("can-run-mpi")
    except OSError:
        pass
if shutil.which("ip") and os.geteuid() == 0:
    name = f"lit{os.getpid()}"
    # A link is made too: some sandboxes have namespaces and no veth.
    commands = (
        ["ip", "netns", "add", name],
        ["ip", "-n", name, "link", "add", "name", "a0", "type", "veth", "peer", "name", "b0"],
    )
    if all(subprocess.run(command, capture_output=True).returncode == 0 for command in commands):
        config.available_features.add("can-make-namespaces")
    subprocess.run(["ip", "netns", "delete", name], capture_output=True)

try:
    with open("/proc/cpuinfo") as cpuinfo:
        if " avx512f " in cpuinfo.read():
            config.available_features.add("host-avx512")
except OSError:
    pass

if lit_config.params.get("run_long_tests", "true") != "false":
    config.available_features.add("long_tests")
if config.assertions == "ON":
    config.available_features.add("asserts")
if "address" in config.sanitizers:
    config.available_features.add("asan")
