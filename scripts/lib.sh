# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the scripts, which source it. All its output goes to stderr.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PRESET=${TESSERA_PRESET-dev}
LLVM=${LLVM:-$(llvm-config-22 --prefix 2>/dev/null || echo /usr/lib/llvm-22)}

PACKAGES=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-22 lld-22
  liblld-22-dev zlib1g-dev libzstd-dev libclang-rt-22-dev cmake ninja-build ccache
  libgtest-dev libsqlite3-dev libssl-dev libvulkan-dev spirv-tools python3-psutil)

say() { echo "==> $*" >&2; }
die() { echo "${0##*/}: $*" >&2; exit 1; }
build_dir() { echo "$ROOT/build/$PRESET"; }

# need_packages [MORE...]: installs what is missing of PACKAGES and MORE.
need_packages() {
  local missing=() package sudo=
  command -v dpkg-query >/dev/null ||
    die "not a Debian system: install LLVM, MLIR and clang 22, cmake, ninja and GoogleTest by hand, then use cmake --preset"
  for package in "${PACKAGES[@]}" "$@"; do
    [[ $(dpkg-query -Wf '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return
  if [[ $EUID != 0 ]]; then
    command -v sudo >/dev/null || die "these packages are missing, and installing them takes root: ${missing[*]}"
    sudo=sudo
  fi

  say "installing ${missing[*]}"
  local log; log=$(mktemp)
  # The package lists may be missing or old: only then is it worth to fetch them.
  install_packages() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      "${missing[@]}" </dev/null >"$log" 2>&1
  }
  install_packages || { $sudo apt-get update </dev/null >"$log" 2>&1 && install_packages; } ||
    die "cannot install ${missing[*]}: $(grep -m1 '^E:' "$log" || echo "see $log")"
  rm -f "$log"
}

# build [TARGET...]: configures build/PRESET where it is not yet, and builds. The lock serializes
# two scripts that run at once.
build() {
  local dir; dir=$(build_dir)
  mkdir -p "$dir"
  (
    flock 9
    if [[ -e $dir/build.ninja ]]; then
      ninja -C "$dir" build.ninja >"$dir/configure.log" 2>&1
    else
      options=()
      if [[ $PRESET == portable ]]; then
        if glibc=$("$ROOT/scripts/older-glibc.sh"); then
          options+=("-DTESSERA_GLIBC=$glibc")
        else
          say "linking with this machine's glibc; the binaries need that version or a later one"
        fi
      fi
      say "configuring preset $PRESET"
      (cd "$ROOT" && cmake --preset "$PRESET" "${options[@]}") >"$dir/configure.log" 2>&1
    fi || { cat "$dir/configure.log" >&2; die "cannot configure; see above"; }
    [[ $(ninja -C "$dir" -n "$@") == *"no work to do"* ]] && exit
    say "building preset $PRESET"
    # Progress on a terminal, else only errors.
    if [[ -t 2 ]]; then ninja -C "$dir" "$@"; else ninja -C "$dir" --quiet "$@"; fi >&2
  ) 9>"$dir/.lock" || exit
}
