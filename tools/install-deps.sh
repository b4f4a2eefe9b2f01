#!/usr/bin/env bash
# Installs the Debian 12 packages of the named sets that are not there yet; silent when none is missing.
#
#   tools/install-deps.sh build test      sets: build, test, bench, deb, lint
#   tools/install-deps.sh --list build    prints what is missing, installs nothing
set -euo pipefail

declare -A packages=(
  [build]="clang-19 lld-19 libclang-rt-19-dev llvm-19 ccache cmake ninja-build pkg-config make git
    libvectorscan-dev libboost1.81-dev libsimdjson-dev libfyaml-dev libfmt-dev
    libsodium-dev libsqlite3-dev libpq-dev libssl-dev libcli11-dev libmimalloc-dev libpcre2-dev libicu-dev
    zlib1g-dev libbrotli-dev libzstd-dev libnats-dev libqrencode-dev esbuild gzip"
  [test]="libgtest-dev libgmock-dev python3 python3-yaml openssl sqlite3 curl jq postgresql g++ nodejs npm passwd util-linux systemd chromium
    dpkg-dev prometheus nats-server buildah mmdebstrap"
  [bench]="libsqlite3-dev libre2-dev"
  [deb]="dpkg-dev binutils"
  [lint]="clang-format-19 clang-tidy-19 python3"
)

# Tests that need one of these packages are skipped with a loud message if it is missing.
can_do_without=" chromium prometheus nats-server buildah mmdebstrap "

say() { printf 'install-deps: %s\n' "$*" >&2; }

# Another package or program may replace a Debian package.
stood_in() {
  case $1 in
    libvectorscan-dev) pkg-config --exists libhs 2>/dev/null ;;  # libhyperscan-dev: same API, and they conflict
    nodejs) command -v node >/dev/null ;;
    npm) command -v npm >/dev/null ;;
    esbuild | chromium | nats-server | curl | jq) command -v "$1" >/dev/null ;;
    *) false ;;
  esac
}

list_only=no
if [ "${1-}" = --list ]; then list_only=yes; shift; fi
wanted=()
for set in "$@"; do
  [ -n "${packages[$set]-}" ] || { say "unknown set \`$set\`, use build, test, bench, deb or lint"; exit 64; }
  read -ra names -d '' <<<"${packages[$set]}" || true
  wanted+=("${names[@]}")
done
[ ${#wanted[@]} -gt 0 ] || { say "name at least one set: build, test, bench, deb, lint"; exit 64; }

if ! command -v dpkg-query >/dev/null; then
  say "not a Debian system, so nothing is installed; the build needs what Debian 12 calls: ${wanted[*]}"
  exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null |
  awk '$1 ~ /^.i/ {print $2}') || true
missing=()
for package in "${wanted[@]}"; do
  case $'\n'"$installed"$'\n' in *$'\n'"$package"$'\n'*) continue ;; esac
  stood_in "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$list_only" = yes ]; then printf '%s\n' "${missing[@]}"; exit 0; fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { say "missing packages, and no root and no sudo; install: ${missing[*]}"; exit 1; }
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)

install() { "${apt[@]}" install -y --no-install-recommends --no-upgrade -o Dpkg::Use-Pty=0 "$@" >/dev/null; }
needed=() extra=()
for package in "${missing[@]}"; do
  case $can_do_without in *" $package "*) extra+=("$package") ;; *) needed+=("$package") ;; esac
done

say "installing ${missing[*]}"
"${apt[@]}" update || say "the package lists could not be refreshed, going on with those at hand"
[ ${#needed[@]} = 0 ] || install "${needed[@]}" ||
  { say "apt-get failed (see above); install by hand: ${needed[*]}"; exit 1; }
for package in "${extra[@]}"; do
  install "$package" || say "SKIPPED: $package could not be installed, so its tests will not run"
done
