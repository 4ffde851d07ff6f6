# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian packages of another suite, unpacked beside the system and never installed. Sourced, after
# lib.sh, by the scripts that start programs of them.
#
# Such programs may need a newer C library than the system has, so they are started by their own
# loader, with their own libraries before the system's.

# mirror: where this machine's apt finds the distribution.
mirror() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$1 ~ /debian\/?$/ && $3 == "main" { print $1; exit }'
}

# unpack_beside NAME ROOT "SUITE.." PACKAGE...: the packages of the last suite, and all that they
# depend on, below ROOT/root. ROOT is there when it is complete; until then ROOT.part is. LEAVE_OUT:
# packages whose file matches it stay packed.
unpack_beside() {
  local name=$1 part=$2.part suites=($3) uri suite
  shift 3
  command -v apt-get >/dev/null || die "not a Debian system: fetch $name by hand"
  uri=$(mirror)
  [[ $uri ]] || die "apt knows no Debian mirror: run apt-get update first"
  say "fetching $name (Debian ${suites[*]})"
  rm -rf "$part"
  mkdir -p "$part"/apt/{lists/partial,archives/partial,etc}
  : >"$part/apt/status"
  for suite in "${suites[@]}"; do
    echo "deb $uri $suite main"
  done >"$part/apt/sources.list"
  # A state of its own, in which nothing is installed: so every dependency comes along.
  local apt=(apt-get -qq -o "Dir::State::lists=$part/apt/lists" -o "Dir::State::status=$part/apt/status"
    -o "Dir::Cache=$part/apt" -o "Dir::Cache::archives=$part/apt/archives"
    -o "Dir::Etc::sourcelist=$part/apt/sources.list" -o Dir::Etc::sourceparts=- -o APT::Sandbox::User=root
    -o APT::Install-Recommends=false -o Debug::NoLocking=true)
  "${apt[@]}" update >"$part/log" 2>&1 || { cat "$part/log" >&2; die "cannot read the package lists"; }
  "${apt[@]}" -y --download-only -t "${suites[-1]}" install "$@" libc6 libstdc++6 \
    >>"$part/log" 2>&1 || { tail -5 "$part/log" >&2; die "cannot fetch $name"; }
  local package
  for package in "$part"/apt/archives/*.deb; do
    [[ ${LEAVE_OUT-} && $package =~ $LEAVE_OUT ]] || dpkg -x "$package" "$part/root"
  done
  rm -rf "$part/apt"
}

# write_starter ROOT PROGRAM [PATTERN]: ROOT.part/bin/PROGRAM, which starts what PATTERN (default:
# PROGRAM) names in ROOT/root/usr/bin by its own loader, so that it can be started by its name.
write_starter() {
  local root=$1 part=$1.part name=$2 pattern=${3-$2} machine program
  machine=$(uname -m)-linux-gnu
  program=$(cd "$part" && compgen -G "root/usr/bin/$pattern" | head -1) || return 0
  mkdir -p "$part/bin"
  cat >"$part/bin/$name" <<END
#!/bin/sh
exec $(cd "$part" && find root -name 'ld-linux-*.so.*' -print -quit | sed "s|^|$root/|") \\
  --library-path $root/root/usr/lib/$machine:$root/root/lib/$machine $root/$program "\$@"
END
  chmod +x "$part/bin/$name"
}

# finish_beside ROOT
finish_beside() {
  touch "$1.part/complete"
  rm -rf "$1"
  mv "$1.part" "$1"
}
