#!/bin/sh
# Brings a machine to the point where cargo can build Salver: a C compiler (the compression libraries and the allocator
# are C), root certificates (to fetch crates), curl (to fetch Rust, and to run the documents' examples), and Rust. Does
# nothing, and asks for no rights, when all is there.
#
#   xtask/setup.sh            what building needs
#   xtask/setup.sh test       also the databases, the Kafka broker, the packages of Python and of Node, the browser and
#                             the authority for certificates that the tests use
#   xtask/setup.sh bench      also what `make bench` needs
set -eu

RUST_MIN=1.95
KAFKA=4.1.0
PEBBLE=2.10.3
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

# What the tests have functions of Python take and give tables and models with, a driver of ArangoDB, and Prometheus'
# parser.
python=${XDG_CACHE_HOME:-$HOME/.cache}/salver/python
if [ "${1:-}" = test ] && ! "$python/bin/python3" -c 'import pandas, openpyxl, pyarrow, pydantic, fastapi, flask, arango, prometheus_client, psycopg, sqlalchemy, asyncpg' 2>/dev/null; then
    echo "Installing pandas, pyarrow, pydantic, fastapi, flask, psycopg, SQLAlchemy, asyncpg and others from PyPI into $python"
    # What is there of it stays: without PyPI it is better than nothing.
    "$python/bin/python3" -c 'import pip' 2>/dev/null || { rm -rf "$python" && python3 -m venv "$python"; } || true
    if ! "$python/bin/pip" install --quiet --disable-pip-version-check \
        pandas openpyxl pyarrow pydantic fastapi flask python-arango prometheus-client 'psycopg[binary]' psycopg2-binary \
        sqlalchemy asyncpg; then
        echo "Not all of them are there: the tests leave out what needs the others." >&2
        "$python/bin/python3" -c 'import pandas, pyarrow' 2>/dev/null || rm -rf "$python"
    fi
fi
# An authority for certificates, where there is Go to build it. Moved to its place when it is whole.
pebble=${XDG_CACHE_HOME:-$HOME/.cache}/salver/pebble/$PEBBLE
go=$(command -v go || echo /usr/local/go/bin/go)
if [ "${1:-}" = test ] && ! [ -x "$pebble/pebble" ]; then
    if [ -x "$go" ]; then
        echo "Building Pebble $PEBBLE from Go's module proxy into $pebble"
        mkdir -p "$pebble.part"
        if GOFLAGS=-mod=mod GOBIN=$pebble.part "$go" install "github.com/letsencrypt/pebble/v2/cmd/pebble@v$PEBBLE"; then
            rm -rf "$pebble"
            mv "$pebble.part" "$pebble"
        else
            echo "It is not there: the tests leave out certificates from an authority." >&2
            rm -rf "$pebble.part"
        fi
    else
        echo "Go is not installed (https://go.dev): the tests leave out certificates from an authority." >&2
    fi
fi
# Another driver, and what drives a browser through the console, where there is Node to run them.
node=${XDG_CACHE_HOME:-$HOME/.cache}/salver/node
for package in arangojs@10 playwright-core@1 axe-core@4; do
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
