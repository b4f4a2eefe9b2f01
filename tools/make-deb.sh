#!/usr/bin/env bash
# Makes a Debian package of a built program: tools/make-deb.sh BUILD OUT. Equal inputs give equal bytes where
# SOURCE_DATE_EPOCH is the same; without it the time of the last commit counts.
#
# The package holds the program, its completions, the licence, the documents, and what `ops/` has for Prometheus and
# Grafana. It starts nothing: `sallyport setup` makes a service.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
version=$(sed -n 's/^project(Sallyport VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")
machine=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || echo 0)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
DESTDIR=$root cmake --install "$build" --prefix /usr --component program >/dev/null
strip --strip-unneeded "$root/usr/bin/sallyport"

share=$root/usr/share/doc/sallyport
mkdir -p "$share" "$root/usr/share/sallyport"
cp "$here/LICENSE" "$share/copyright"
gzip -9nc "$here/CHANGELOG.md" >"$share/changelog.gz"
cp "$here/README.md" "$here/SECURITY.md" "$here"/docs/*.md "$share/"
rm -f "$share/status.md"
cp -r "$here/ops/prometheus" "$here/ops/grafana" "$root/usr/share/sallyport/"
rm -f "$root/usr/share/sallyport/prometheus/"*.test.yaml
find "$root" -type d -exec chmod 755 {} + -o -type f ! -path '*/bin/*' -exec chmod 644 {} +

# The program itself is asked which libraries it needs; it loads libpq only for a ledger in PostgreSQL.
mkdir -p "$work/debian"
printf 'Source: sallyport\n\nPackage: sallyport\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/sallyport" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: sallyport
Version: $version
Architecture: $machine
Maintainer: The Sallyport authors <sallyport@localhost>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: $depends, libpq5 (>= 14~)
Section: net
Priority: optional
Description: gate between AI agents and their tools
 Sallyport decides about each call of an agent to a tool by a policy, asks people
 where the policy says so, and keeps a signed record that can be verified offline.
END
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
file=$out/sallyport_${version}_$machine.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$file" >/dev/null
echo "$file"
