#!/usr/bin/env bash
# Vulkan devices that are programs: Mesa's lavapipe. Fetches them once, from Debian's packages.
#
#   scripts/software-devices.sh lavapipe PROGRAM ARGS...   runs PROGRAM with the lavapipe of
#                                trixie-backports, which has cooperative matrices
#   scripts/software-devices.sh stock PROGRAM ARGS...      with bookworm's, which has none
#   scripts/software-devices.sh --have NAME                says by its status whether NAME was fetched
#   scripts/software-devices.sh --fetch [NAME...]          fetches them
#
# The packages are unpacked beside the system, never installed: below TESSERA_DEVICES (default:
# ~/.cache/tessera/devices), with the suite's spirv-val. Those of another suite need a newer C library than the system may have, so
# PROGRAM is started by their own loader, with their libraries before the system's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/scripts/beside.sh"

STORE=${TESSERA_DEVICES-${XDG_CACHE_HOME:-$HOME/.cache}/tessera/devices}
declare -A SUITES=([lavapipe]="trixie trixie-backports" [stock]="bookworm")

fetch() {
  local name=$1 root=$STORE/$1
  [[ -e $root/complete ]] && return
  unpack_beside "$name" "$root" "${SUITES[$name]}" mesa-vulkan-drivers libvulkan1 spirv-tools
  # Other programs start this one by its name.
  write_starter "$root" spirv-val
  finish_beside "$root"
}

# start NAME PROGRAM ARGS...
start() {
  local root=$STORE/$1/root program; shift
  program=$(command -v "$1") || die "no program '$1'"; shift
  local machine; machine=$(uname -m)-linux-gnu
  local libraries=$root/usr/lib/$machine:$root/lib/$machine loader
  loader=$(find "$root" -name 'ld-linux-*.so.*' -print -quit)
  local driver=("$root"/usr/share/vulkan/icd.d/lvp_icd*.json)
  # The manifest may name the library alone, or its place in an installed system.
  local manifest=${root%/root}/lvp.json
  if [[ ! -e $manifest ]]; then
    sed "s|\(\"library_path\": *\)\"[^\"]*\"|\1\"$root/usr/lib/$machine/libvulkan_lvp.so\"|" \
      "${driver[0]}" >"$manifest.$$"
    mv -f "$manifest.$$" "$manifest"
  fi
  export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
  exec "$loader" --library-path "$libraries:/usr/lib/$machine:$LLVM/lib" --argv0 "$program" "$program" "$@"
}

case ${1-} in
--fetch)
  shift
  [[ $# == 0 ]] && set -- "${!SUITES[@]}"
  for name; do
    [[ ${SUITES[$name]-} ]] || die "no device '$name'; there are ${!SUITES[*]}"
    fetch "$name"
  done ;;
--have) [[ -e $STORE/${2-}/complete ]] ;;
lavapipe | stock) fetch "$1"; [[ $# -ge 2 ]] || die "which program?"; start "$@" ;;
*) die "usage: software-devices.sh lavapipe|stock PROGRAM ARGS... | --fetch [NAME...] | --have NAME" ;;
esac
