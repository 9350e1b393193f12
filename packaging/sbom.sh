#!/bin/sh
# Writes what is in the program, with versions and licences, as a software bill of materials (CycloneDX 1.5, JSON). The C
# libraries in it are part of the crates that bring them (`libsqlite3-sys`, `zstd-sys`, `rdkafka-sys`, ...). It names some
# crates more than are compiled: what Cargo resolves for options that nobody turns on.
#
#   packaging/sbom.sh FILE
#
# Needs cargo-cyclonedx, and installs it if it is not there.
set -eu

[ $# = 1 ] || { echo "usage: packaging/sbom.sh FILE" >&2; exit 2; }
mkdir -p "$(dirname "$1")"
out=$(realpath "$1")
cd "$(dirname "$0")/.."

cargo cyclonedx --version >/dev/null 2>&1 || cargo install --quiet --locked --version 0.5.9 cargo-cyclonedx

# It writes a file beside the manifest of each crate of the workspace; that of the program is the one we want.
name=bill-of-materials
trap 'find crates xtask -name "$name.json" -delete' EXIT
cargo cyclonedx --quiet --format json --spec-version 1.5 --all --no-build-deps --override-filename "$name"
mv "crates/salver/$name.json" "$out"

# No crate without a licence.
python3 - "$out" <<'PYTHON'
import json, sys

parts = json.load(open(sys.argv[1]))["components"]
bare = [part["name"] for part in parts if not part.get("licenses")]
print(f"{len(parts)} components")
sys.exit(f"without a licence: {', '.join(bare)}" if bare else 0)
PYTHON
