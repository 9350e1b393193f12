#!/bin/sh
# Brings a machine to the point where cargo can build Salver: a C compiler (the compression libraries and the allocator
# are C), root certificates (to fetch crates), curl (to fetch Rust, and to run the documents' examples), and Rust. Does
# nothing, and asks for no rights, when all is there.
#
#   xtask/setup.sh            what building needs
#   xtask/setup.sh test       also the databases, the Kafka broker, the packages of Python and of Node, the browser and
#                             the authority for certificates that the tests use
#   xtask/setup.sh packages   also what makes packages
#   xtask/setup.sh site       also the generator of the documentation's site
#   xtask/setup.sh bench      also what `make bench` needs
set -eu

RUST_MIN=1.95
KAFKA=4.1.0
JDBC=42.7.8
FLIGHT_JDBC=18.3.0
PEBBLE=2.10.3
ZENSICAL=0.0.73
VALE=3.21.0
OPENAPI_GENERATOR=7.25.0
GCS=1.56.1
packages=

has() { command -v "$1" >/dev/null 2>&1; }
want() { packages="$packages $1"; }
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif has sudo; then sudo "$@"; else
        echo "This needs root or sudo: $*" >&2
        exit 1
    fi
}

has cc || want build-essential
[ -e /etc/ssl/certs/ca-certificates.crt ] || [ -d /etc/pki ] || [ "$(uname)" = Darwin ] || want ca-certificates
has curl || want curl
if [ "${1:-}" = test ]; then
    has sqlite3 || want sqlite3
    has openssl || want openssl
    { has mariadbd || [ -x /usr/sbin/mariadbd ]; } && has mariadb-install-db || want mariadb-server-core
    has mariadb || want mariadb-client-core
    # With PostgreSQL's server and client, in the version of the system.
    ls /usr/share/postgresql/*/extension/postgis.control >/dev/null 2>&1 || want postgresql-postgis
    has psql || want postgresql-client
    # For the console, which is driven from Node; without Node nobody would start it.
    has chromium || ! has npm || want "chromium fonts-dejavu-core"
    # Of util-linux: database servers refuse to run as root.
    has setpriv || [ "$(id -u)" != 0 ] || want util-linux
fi
# Kafka is Java, and comes from Maven Central as its jars; kcat looks at topics from outside.
kafka=${XDG_CACHE_HOME:-$HOME/.cache}/salver/kafka/$KAFKA
if [ "${1:-}" = test ] || [ "${1:-}" = bench ]; then
    # User code, and plumber, whose applications are run as they stand.
    has R || want r-base-core
    Rscript -e 'library(plumber)' >/dev/null 2>&1 || want "r-cran-plumber r-cran-jsonlite"
    has python3 || want python3
    has java || want default-jre-headless
    has kcat || want kcat
    [ -d "$kafka" ] || has mvn || want maven
fi
if [ "${1:-}" = test ]; then
    has mvn || want maven
    # Programs of Java are run from their source, for which it needs its compiler.
    has java && java --list-modules 2>/dev/null | grep -q '^jdk.compiler' || want default-jdk-headless
fi
if [ "${1:-}" = test ] || [ "${1:-}" = site ]; then
    python3 -c 'import venv, ensurepip' 2>/dev/null || want python3-venv
fi
if [ "${1:-}" = packages ]; then
    has dpkg-shlibdeps || want dpkg-dev
    has strip || want binutils
    python3 -c 'import venv, ensurepip' 2>/dev/null || want python3-venv
fi
if [ "${1:-}" = bench ]; then
    has wrk || want wrk
    python3 -c 'import venv, ensurepip' 2>/dev/null || want python3-venv
    # New connections for each request, which wrk can't make.
    has ab || want apache2-utils
    # The databases with their own loaders, and what the Python port's web server is built with.
    has sqlite3 || want sqlite3
    has mariadbd || [ -x /usr/sbin/mariadbd ] || want mariadb-server-core
    has mariadb || want mariadb-client-core
    has pgbench || ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1 || want postgresql
    has psql || want postgresql-client
    [ -e /usr/include/ev.h ] || want libev-dev
    headers=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null) || headers=
    [ -e "$headers/Python.h" ] || want python3-dev
    has go || [ -x /usr/local/go/bin/go ] || echo "Go is not installed (https://go.dev): PocketBase is left out." >&2
fi

if [ -n "$packages" ]; then
    if has apt-get; then
        echo "Installing:$packages"
        as_root apt-get update -qq
        # shellcheck disable=SC2086 -- a list of words
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
    else
        echo "Missing on this machine (names as Debian has them):$packages" >&2
        echo "Install them with your system's package manager and run make again." >&2
        exit 1
    fi
fi

if { [ "${1:-}" = test ] || [ "${1:-}" = bench ]; } && ! [ -d "$kafka" ]; then
    echo "Fetching Kafka $KAFKA from Maven Central into $kafka"
    # Moved to its place when all of it is there, so that a broken-off download is begun again.
    rm -rf "$kafka.part"
    mkdir -p "$kafka.part"
    mvn -q -B -f "$(dirname "$0")/kafka.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
        -DoutputDirectory="$kafka.part" -DincludeScope=runtime
    mv "$kafka.part" "$kafka"
fi

# Fetches a jar from Maven Central into a place of its own. Without it the tests leave out what it is for.
jar() { # group:artifact, name of the place, version, what it is for
    place=${XDG_CACHE_HOME:-$HOME/.cache}/salver/$2/$3
    [ -d "$place" ] && return
    echo "Fetching ${1#*:} $3 from Maven Central into $place"
    rm -rf "$place.part"
    if has mvn && mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
        "-Dartifact=$1:$3" "-DoutputDirectory=$place.part"; then
        mv "$place.part" "$place"
    else
        echo "It is not there: the tests leave out $4." >&2
        rm -rf "$place.part"
    fi
}
if [ "${1:-}" = test ]; then
    jar org.postgresql:postgresql jdbc "$JDBC" "PostgreSQL's driver of Java"
    jar org.apache.arrow:flight-sql-jdbc-driver flight-jdbc "$FLIGHT_JDBC" "the driver of Java for Arrow Flight SQL"
    jar org.openapitools:openapi-generator-cli openapi-generator "$OPENAPI_GENERATOR" "generated clients"
fi

# Packages of Python for the tests, as python.txt lists them.
python=${XDG_CACHE_HOME:-$HOME/.cache}/salver/python
wanted=$(dirname "$0")/python.txt
if [ "${1:-}" = test ] && ! cmp -s "$wanted" "$python/installed.txt"; then
    echo "Installing the packages of $wanted from PyPI into $python"
    # What is there of it stays: without PyPI it is better than nothing.
    "$python/bin/python3" -c 'import pip' 2>/dev/null || { rm -rf "$python" && python3 -m venv "$python"; } || true
    if "$python/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
        cp "$wanted" "$python/installed.txt"
    else
        echo "Not all of them are there: the tests leave out what needs the others." >&2
        "$python/bin/python3" -c 'import pandas, pyarrow' 2>/dev/null || rm -rf "$python"
    fi
fi
# Builds a program of Go's module proxy into a place of its own, moved there when it is whole. Without Go, or the proxy,
# the tests leave out what it is for.
go=$(command -v go || echo /usr/local/go/bin/go)
go_program() { # name, version, package, what it is for
    place=${XDG_CACHE_HOME:-$HOME/.cache}/salver/$1/$2
    ls "$place"/* >/dev/null 2>&1 && return
    if ! [ -x "$go" ]; then
        echo "Go is not installed (https://go.dev): the tests leave out $4." >&2
        return
    fi
    echo "Building $3 $2 from Go's module proxy into $place"
    mkdir -p "$place.part"
    if GOFLAGS=-mod=mod GOBIN=$place.part "$go" install "$3@v$2"; then
        rm -rf "$place"
        mv "$place.part" "$place"
    else
        echo "It is not there: the tests leave out $4." >&2
        rm -rf "$place.part"
    fi
}
if [ "${1:-}" = test ]; then
    go_program pebble "$PEBBLE" github.com/letsencrypt/pebble/v2/cmd/pebble "certificates from an authority"
    go_program gcs "$GCS" github.com/fsouza/fake-gcs-server "Google Cloud Storage"
    go_program vale "$VALE" github.com/vale-cli/vale/v3/cmd/vale "the English of the documents"
fi
# What makes a site of the documents.
site=${XDG_CACHE_HOME:-$HOME/.cache}/salver/site
if { [ "${1:-}" = test ] || [ "${1:-}" = site ]; } && [ "$(cat "$site/version" 2>/dev/null)" != "$ZENSICAL" ]; then
    echo "Installing Zensical $ZENSICAL from PyPI into $site"
    rm -rf "$site"
    if python3 -m venv "$site" && "$site/bin/pip" install --quiet --disable-pip-version-check "zensical==$ZENSICAL"; then
        echo "$ZENSICAL" >"$site/version"
    else
        echo "It is not there, and the site is left out." >&2
        rm -rf "$site"
    fi
fi
# Another driver, a server of Azure Blob Storage, what compiles a client, and what drives a browser through the console,
# where there is Node to run them.
node=${XDG_CACHE_HOME:-$HOME/.cache}/salver/node
for package in arangojs@10 playwright-core@1 axe-core@4 typescript@7 azurite@3; do
    [ "${1:-}" = test ] && has npm && ! [ -d "$node/node_modules/${package%@*}" ] || continue
    echo "Installing $package from npm into $node"
    mkdir -p "$node"
    if ! npm install --silent --no-audit --no-fund --prefix "$node" "$package" >/dev/null; then
        echo "It is not there, and left out of the tests." >&2
    fi
done

if ! has cargo; then
    if ! has apt-get; then
        echo "Missing: Rust $RUST_MIN or newer. Get it from https://rustup.rs and run make again." >&2
        exit 1
    fi
    echo "Installing Rust into ~/.cargo with rustup (https://rustup.rs)"
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y -q --profile minimal --no-modify-path \
        --component clippy --component rustfmt
    has rustc || { echo "Rust could not be installed; get it from https://rustup.rs and run make again." >&2; exit 1; }
fi

version=$(rustc --version | cut -d' ' -f2)
oldest=$(printf '%s\n' "$RUST_MIN" "$version" | sort -V | head -n 1)
if [ "$oldest" != "$RUST_MIN" ]; then
    echo "Rust $version is too old: Salver needs $RUST_MIN or newer." >&2
    echo "With rustup: 'rustup update stable'. Without: get rustup from https://rustup.rs." >&2
    exit 1
fi
for tool in rustfmt cargo-clippy; do
    has "$tool" && continue
    has rustup && { rustup component add clippy rustfmt; continue; }
    echo "Missing: $tool, which \`make test\` needs. It comes with rustup ('rustup component add clippy rustfmt')" >&2
    echo "or as a package of your system (Debian: rustfmt, rust-clippy)." >&2
done
