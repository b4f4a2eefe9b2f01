#!/usr/bin/env bash
# An agent on a scripted model, in folders of its own that are gone afterwards:
#
#   examples/agent/run.sh build/bin/sallyport
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")"
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
cp -r agent.yaml talk.yaml folder "$data"
echo
echo '$ sallyport agent run --agent examples/agent/agent.yaml --policy starter "Tidy up"'
"$program" --data-dir "$data/data" agent run --agent "$data/agent.yaml" --policy starter "Tidy up"
echo
echo '$ sallyport ledger calls'
"$program" --data-dir "$data/data" ledger calls
