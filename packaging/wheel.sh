#!/bin/sh
# Makes the wheel of a binary that is built already: DIRECTORY/salver-VERSION-py3-none-PLATFORM.whl.
#
#   packaging/wheel.sh BINARY DIRECTORY [SBOM]
#
# maturin describes it, and would also build it (`maturin build -m packaging/wheel/pyproject.toml`), but of that crate
# alone, with which Cargo compiles the engine once more; all packages of a release have one binary instead. The platform is
# told by the newest symbol that the binary takes from the C library, and auditwheel looks whether that is true.
# Needs python3-venv and binutils; maturin, wheel and auditwheel come from PyPI.
set -eu

[ $# -ge 2 ] || { echo "usage: packaging/wheel.sh BINARY DIRECTORY [SBOM]" >&2; exit 2; }
binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
sbom=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' wheel auditwheel
PATH=$work/venv/bin:$PATH

# Of what it says, the last line is the name.
described=$(cd packaging/wheel && maturin pep517 write-dist-info --metadata-directory "$work/wheel" | tail -n 1)
version=$("$binary" --version | cut -d' ' -f2)
[ "$described" = "salver-$version.dist-info" ] || { echo "The binary is $version, and $described is not." >&2; exit 1; }

libc=$(objdump -T "$binary" | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -n 1)
platform=manylinux_$(echo "${libc#GLIBC_}" | tr . _)_$(uname -m)
sed "s/^Tag: .*/Tag: py3-none-$platform/" "$work/wheel/$described/WHEEL" >"$work/WHEEL"
mv "$work/WHEEL" "$work/wheel/$described/WHEEL"
install -d "$work/wheel/salver-$version.data/scripts"
strip -o "$work/wheel/salver-$version.data/scripts/salver" "$binary"
chmod 0755 "$work/wheel/salver-$version.data/scripts/salver"
install -D -m 0644 LICENSE "$work/wheel/$described/licenses/LICENSE"
# Where PEP 770 has it.
[ -z "$sbom" ] || install -D -m 0644 "$sbom" "$work/wheel/$described/sboms/salver.cdx.json"
rm -f "$work/wheel/$described/RECORD"
wheel pack --dest-dir "$out" "$work/wheel"

found=$(auditwheel show "$out/salver-$version-py3-none-$platform.whl")
echo "$found" | tr '\n' ' ' | grep -q "\"$platform\"" || { echo "$found" >&2; exit 1; }
