#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Software devices: Mesa's lavapipe for Vulkan; PoCL and Mesa's rusticl for OpenCL. Fetches
# them once, from Debian's packages.
#
#   scripts/software-devices.sh lavapipe PROGRAM ARGS...   runs PROGRAM with the lavapipe of
#                                trixie-backports, which has cooperative matrices
#   scripts/software-devices.sh stock PROGRAM ARGS...      with bookworm's, which has none
#   scripts/software-devices.sh pocl PROGRAM ARGS...       with forky's PoCL: no subgroups, no f16
#   scripts/software-devices.sh rusticl PROGRAM ARGS...    with trixie-backports' rusticl on llvmpipe:
#                                subgroups of 8 lanes, f16, no f64
#   scripts/software-devices.sh --have NAME                exits with 0 if NAME was fetched
#   scripts/software-devices.sh --fetch [NAME...]          fetches them; without a name all, where those
#                                of OpenCL may be missing: it prints which
#
# The packages are unpacked beside the system, never installed: below TESSERA_DEVICES (default:
# ~/.cache/tessera/devices), with the suite's spirv-val. Those of another suite need a newer C library than the system may have, so
# PROGRAM is started by their own loader, with their libraries before the system's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/scripts/beside.sh"

STORE=${TESSERA_DEVICES-${XDG_CACHE_HOME:-$HOME/.cache}/tessera/devices}
declare -A SUITES=([lavapipe]="trixie trixie-backports" [stock]="bookworm" [pocl]="forky"
  [rusticl]="trixie trixie-backports")
declare -A WANTED=([lavapipe]="mesa-vulkan-drivers libvulkan1 spirv-tools" [stock]="mesa-vulkan-drivers libvulkan1 spirv-tools"
  [pocl]="pocl-opencl-icd ocl-icd-libopencl1" [rusticl]="mesa-opencl-icd ocl-icd-libopencl1")

fetch() {
  local name=$1 root=$STORE/$1 part machine leave_out=
  [[ -e $root/complete ]] && return
  # PoCL depends on a compiler and what that compiles against; it takes the linker alone.
  [[ $name == pocl ]] &&
    leave_out='/(lib(c6|gcc|stdc++|objc|asan|tsan|lsan|hwasan|ubsan)[^/]*-dev|linux-libc-dev|lib[a-z]*san)'
  LEAVE_OUT=$leave_out unpack_beside "$name" "$root" "${SUITES[$name]}" ${WANTED[$name]}
  part=$root.part
  machine=$(uname -m)-linux-gnu
  case $name in
  pocl)
    mkdir -p "$part/vendors"
    echo "$root/root/usr/lib/$machine/libpocl.so.2" >"$part/vendors/pocl.icd" ;;
  rusticl)
    # It reads its library of functions from a fixed folder, whose name is replaced by one as long:
    # the folder that `start` hands it as a descriptor. It takes two files of that folder.
    sed -i 's|/usr/lib/clc/|/dev/fd/9////|g' "$part"/root/usr/lib/"$machine"/libRusticlOpenCL.so.1.*
    find "$part/root/usr/" -name '*.bc' -delete
    mkdir -p "$part/vendors"
    echo "$root/root/usr/lib/$machine/libRusticlOpenCL.so.1" >"$part/vendors/rusticl.icd" ;;
  esac
  # Other programs start these by their names.
  local program
  for program in "$part"/root/usr/bin/{spirv-val,llvm-spirv-*}; do
    [[ -e $program ]] && write_starter "$root" "${program##*/}"
  done
  finish_beside "$root"
}

# use_vulkan ROOT: lets the loader find the lavapipe below ROOT and nothing else.
use_vulkan() {
  local root=$1 machine; machine=$(uname -m)-linux-gnu
  local driver=("$root"/usr/share/vulkan/icd.d/lvp_icd*.json)
  # The manifest may name the library alone, or its path in an installed system.
  local manifest=${root%/root}/lvp.json
  if [[ ! -e $manifest ]]; then
    sed "s|\(\"library_path\": *\)\"[^\"]*\"|\1\"$root/usr/lib/$machine/libvulkan_lvp.so\"|" \
      "${driver[0]}" >"$manifest.$$"
    mv -f "$manifest.$$" "$manifest"
  fi
  export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
}

# start NAME PROGRAM ARGS...
start() {
  local name=$1 root=$STORE/$1/root program; shift
  program=$(command -v "$1") || die "no program '$1'"; shift
  local machine; machine=$(uname -m)-linux-gnu
  local libraries=$root/usr/lib/$machine:$root/lib/$machine loader
  loader=$(find "$root" -name 'ld-linux-*.so.*' -print -quit)
  case $name in
  lavapipe | stock) use_vulkan "$root" ;;
  pocl)
    # Thousands of random programs would fill its cache of kernels.
    export OCL_ICD_VENDORS=${root%/root}/vendors POCL_KERNEL_CACHE=${POCL_KERNEL_CACHE-0}
    # It starts the translator of SPIR-V that it was built for.
    local translator=("${root%/root}"/bin/llvm-spirv-*)
    export POCL_PATH_LLVM_SPIRV=${translator[0]} ;;
  rusticl)
    export OCL_ICD_VENDORS=${root%/root}/vendors RUSTICL_ENABLE=llvmpipe
    exec 9<"$(readlink -f "$root/usr/lib/clc")" ;;
  esac
  exec "$loader" --library-path "$libraries:/usr/lib/$machine:$LLVM/lib" --argv0 "$program" "$program" "$@"
}

case ${1-} in
--fetch)
  shift
  if [[ $# == 0 ]]; then
    for name in lavapipe stock; do fetch "$name"; done
    # Suites that are not released yet may be in the middle of a change.
    for name in pocl rusticl; do
      "${BASH_SOURCE[0]}" --fetch "$name" || say "no device $name: its tests will be skipped"
    done
  fi
  for name; do
    [[ ${SUITES[$name]-} ]] || die "no device '$name'; there are ${!SUITES[*]}"
    fetch "$name"
  done ;;
--have) [[ -e $STORE/${2-}/complete ]] ;;
lavapipe | stock | pocl | rusticl) fetch "$1"; [[ $# -ge 2 ]] || die "which program?"; start "$@" ;;
*) die "usage: software-devices.sh lavapipe|stock|pocl|rusticl PROGRAM ARGS... | --fetch [NAME...] | --have NAME" ;;
esac
