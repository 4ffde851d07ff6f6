#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/older-glibc.sh: fetches glibc 2.31 from Debian 11 (packages libc6 and libc6-dev) into
# build/glibc-2.31, for the preset `portable` to link with (TESSERA_GLIBC), and prints that folder.
# Binaries that are linked with this machine's glibc do not start with an older one. Nothing is
# installed: apt fetches the packages with package lists of its own. Headers are this machine's;
# cmake/OlderGlibc.c defines the few functions that glibc 2.31 lacks.
#
# build/glibc-2.31/root has the whole packages: a program runs with that glibc by
# `root/lib/ARCH/ld-2.31.so --library-path root/lib/ARCH PROGRAM`.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

out=$ROOT/build/glibc-2.31
triple=$(uname -m)-linux-gnu
[[ ! -e $out/libc.so ]] || { echo "$out"; exit; }
say "fetching glibc 2.31"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists,cache/archives}/partial
# The mirror that this machine uses for its own release.
release=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
  "Release: $release" 'Origin: Debian' 'Label: Debian' | head -n 1)
[[ -n $mirror ]] || die "apt knows no mirror of Debian; run apt-get update"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror bullseye main" >"$work/sources.list"
private() {
  apt-get -q -oDir::Etc::SourceList="$work/sources.list" -oDir::Etc::SourceParts=/dev/null \
    -oDir::State::Lists="$work/lists" -oDir::State::status=/dev/null -oDir::Cache="$work/cache" \
    -oAPT::Sandbox::User=root "$@" </dev/null >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
}
(cd "$work" && private update && private download libc6 libc6-dev) ||
  die "cannot fetch libc6 and libc6-dev of Debian 11"

rm -rf "$out"
mkdir -p "$out/root"
for package in "$work"/*.deb; do dpkg -x "$package" "$out/root"; done
cd "$out"
cp root/usr/lib/"$triple"/{crt1.o,Scrt1.o,crti.o,crtn.o,libc_nonshared.a} .
for name in m dl pthread rt; do ln -s root/lib/"$triple"/lib$name-2.31.so lib$name.so; done
# Last: its presence means that everything is complete.
echo "GROUP ( $out/root/lib/$triple/libc-2.31.so $out/libc_nonshared.a" \
  "AS_NEEDED ( $out/root/lib/$triple/ld-2.31.so ) )" >libc.so
echo "$out"
