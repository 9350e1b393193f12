#!/bin/sh
# Lays what a package of Linux has into a directory, as below `/`: the program without its symbols, and what it says of
# itself, manual pages and completions.
#
#   packaging/stage.sh BINARY DIRECTORY
set -eu

[ $# = 2 ] || { echo "usage: packaging/stage.sh BINARY DIRECTORY" >&2; exit 2; }
binary=$1
root=$2
source=$(dirname "$0")

install -d "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" \
    "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d" "$root/usr/lib/systemd/system"
strip -o "$root/usr/bin/salver" "$binary"
chmod 0755 "$root/usr/bin/salver"
"$binary" man "$root/usr/share/man/man1"
gzip -9n "$root"/usr/share/man/man1/*.1
"$binary" completions bash >"$root/usr/share/bash-completion/completions/salver"
"$binary" completions zsh >"$root/usr/share/zsh/vendor-completions/_salver"
"$binary" completions fish >"$root/usr/share/fish/vendor_completions.d/salver.fish"
install -m 0644 "$source/systemd/salver.service" "$source/systemd/salver.socket" "$root/usr/lib/systemd/system"
