#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Intel's offline compiler, ocloc: machine code of Intel's GPUs from SPIR-V, on any machine. Fetches
# it once, from Debian's packages.
#
#   scripts/intel-compiler.sh KERNELS.spv CHIP [OPTIONS]   compiles the kernels of a file for CHIP
#                                (pvc, bmg, dg2, or another that ocloc knows), and prints each
#                                kernel's assembly after its registers and its spills. OPTIONS
#                                are OpenCL's build options
#   scripts/intel-compiler.sh --have                       exits with 0 if it was fetched
#   scripts/intel-compiler.sh --fetch                      fetches it
#
# The packages are unpacked beside the system, never installed: below TESSERA_DEVICES (default:
# ~/.cache/tessera/devices). An ocloc on the PATH is taken instead where there is none of ours.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$ROOT/scripts/beside.sh"

STORE=${TESSERA_DEVICES-${XDG_CACHE_HOME:-$HOME/.cache}/tessera/devices}
HERE=$STORE/intel-compiler

fetch() {
  [[ -e $HERE/complete ]] && return
  unpack_beside intel-compiler "$HERE" forky intel-ocloc libigc2 spirv-tools
  # The program's name has its version.
  write_starter "$HERE" ocloc 'ocloc*'
  write_starter "$HERE" spirv-dis
  write_starter "$HERE" spirv-val
  finish_beside "$HERE"
}

find_ocloc() {
  if [[ -e $HERE/complete ]]; then echo "$HERE/bin/ocloc"; else command -v ocloc; fi
}

# split_modules FILE DIR: the modules of FILE, which follow each other, as DIR/0.spv and so on.
split_modules() {
  python3 - "$1" "$2" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
if not words or words[0] != 0x07230203:
    sys.exit(f"intel-compiler.sh: {sys.argv[1]} is not a SPIR-V module")
starts, at = [], 0
while at < len(words):
    starts.append(at)
    at += 5
    while at < len(words) and words[at] != words[0]:
        at += max(words[at] >> 16, 1)
for number, (begin, end) in enumerate(zip(starts, starts[1:] + [len(words)])):
    with open(f"{sys.argv[2]}/{number}.spv", "wb") as file:
        file.write(data[4 * begin : 4 * end])
END
}

# The fields of .ze_info with the resources of a kernel, one line for each kernel.
print_usage() {
  awk '/^  - name:/ { if (name && env) print line; name = $3; line = "kernel " name ":"; env = 0 }
    /^    execution_env:/ { env = 1 }
    /^      (grf_count|simd_size|slm_size|spill_size|private_size|has_dpas|per_thread_private|barrier_count):|scratch_size:|spill/ {
      line = line " " $1 " " $2 }
    /^kernels_misc_info:/ { exit }
    END { if (name && env) print line }' "$1"
}

disassemble() {
  local file=$1 chip=$2 options=${3-} ocloc dir module
  [[ -r $file ]] || die "cannot read $file"
  ocloc=$(find_ocloc) || die "no ocloc here: scripts/intel-compiler.sh --fetch gets it"
  dir=$(mktemp -d)
  trap "rm -rf '$dir'" EXIT
  split_modules "$file" "$dir"
  for module in "$dir"/*.spv; do
    local out=${module%.spv}
    # Failures are one line of its many; its status alone does not reveal spills.
    if ! "$ocloc" compile -q -spirv_input -file "$module" -device "$chip" -options "$options" \
      -output code -out_dir "$out" >"$out.log" 2>&1; then
      grep -v '^$' "$out.log" >&2
      die "ocloc does not compile $file for $chip"
    fi
    grep -i '^warning' "$out.log" || true
    mkdir -p "$out/asm"
    "$ocloc" disasm -file "$out"/code*.bin -device "$chip" -dump "$out/asm" >"$out.log" 2>&1 ||
      { cat "$out.log" >&2; die "ocloc does not disassemble its code for $chip"; }
    print_usage "$out/asm/.ze_info"
    local text
    for text in "$out"/asm/.text.*.asm; do
      local name=${text##*/.text.}
      echo "${name%.asm}:"
      # Padding and notes follow the last end of a thread.
      awk '{ lines[NR] = $0 } /EOT/ { last = NR } END { for (i = 1; i <= last; ++i) print lines[i] }' "$text"
    done
  done
}

case ${1-} in
--fetch) fetch ;;
--have) [[ -e $HERE/complete ]] || command -v ocloc >/dev/null ;;
--* | '') die "usage: intel-compiler.sh KERNELS.spv CHIP [OPTIONS] | --fetch | --have" ;;
*) [[ $# -ge 2 ]] || die "which chip? pvc, bmg or dg2"; disassemble "$@" ;;
esac
