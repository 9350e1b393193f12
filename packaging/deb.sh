#!/bin/sh
# Makes the Debian package of a binary that is built already: DIRECTORY/salver_VERSION_ARCHITECTURE.deb.
#
#   packaging/deb.sh BINARY DIRECTORY [SBOM]
#
# Needs dpkg-dev and binutils. Which libraries the package depends on is what `dpkg-shlibdeps` finds in the binary, so
# that the package fits the release of Debian that the binary was built on, and later ones.
set -eu

[ $# -ge 2 ] || { echo "usage: packaging/deb.sh BINARY DIRECTORY [SBOM]" >&2; exit 2; }
binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
sbom=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
version=$("$binary" --version | cut -d' ' -f2)
architecture=$(dpkg --print-architecture)
maintainer="the authors of Salver <salver@example.invalid>"
install -d "$root/DEBIAN" "$root/etc/salver" "$root/usr/share/doc/salver/examples"
packaging/stage.sh "$binary" "$root"

install -m 0644 packaging/debian/salver.toml "$root/etc/salver/salver.toml"
install -m 0644 packaging/debian/copyright "$root/usr/share/doc/salver/copyright"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/salver/changelog.gz"
cat >"$work/changelog" <<CHANGELOG
salver ($version-1) unstable; urgency=medium

  * What changed is in changelog.gz beside this file.

 -- $maintainer  $(date -uR -r CHANGELOG.md)
CHANGELOG
gzip -9nc "$work/changelog" >"$root/usr/share/doc/salver/changelog.Debian.gz"
cp -R examples/demo "$root/usr/share/doc/salver/examples/demo"
[ -z "$sbom" ] || install -m 0644 "$sbom" "$root/usr/share/doc/salver/sbom.cdx.json"
for script in postinst prerm postrm; do install -m 0755 "packaging/debian/$script" "$root/DEBIAN/$script"; done
echo /etc/salver/salver.toml >"$root/DEBIAN/conffiles"
# What a umask or a checkout left out or added.
find "$root/usr" -type d -exec chmod 0755 {} +
find "$root/usr/share" -type f -exec chmod 0644 {} +

mkdir "$work/debian"
printf 'Source: salver\n\nPackage: salver\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "$root/usr/bin/salver" | sed -n 's/^shlibs:Depends=//p')
cat >"$root/DEBIAN/control" <<CONTROL
Package: salver
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $depends, adduser
Recommends: python3
Suggests: r-base-core
Section: web
Priority: optional
Description: data as a fast, safe API
 Salver turns files, databases, event streams and functions of R and Python
 into an API: REST, SQL, GraphQL, PostgreSQL's protocol and Arrow Flight SQL,
 with a console for browsers. There is no code to write and nothing else to run.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} +) >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/salver_$version-1_$architecture.deb"
