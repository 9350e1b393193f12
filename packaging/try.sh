#!/bin/sh
# Tries a package in a fresh Debian: makes a root file system, installs the package in it, serves the demo from it, and
# asks it from outside.
#
#   packaging/try.sh deb   FILE.deb        salver_VERSION_ARCHITECTURE.deb
#   packaging/try.sh systemd FILE.deb      the same package, as a service of a systemd that is booted (see boot.sh)
#   packaging/try.sh wheel FILE.whl        by pip, in an environment of its own
#   packaging/try.sh image FILE.deb        what the Containerfile says, without a daemon (see rootfs.py)
#
# Needs root, debootstrap, curl, and Debian's packages. Variables: PORT (21100) is asked, on the loopback address; SUITE
# (bookworm) is the release of Debian; BASE, if set, is a directory that keeps the bare system for the next try. Nothing
# stays: what is mounted is so in a namespace of the server's own.
set -eu

kind=${1:-}
package=${2:-}
[ -f "$package" ] || { sed -n 's/^#   //p' "$0" >&2; exit 2; }
package=$(realpath "$package")
here=$(realpath "$(dirname "$0")")
demo=$here/../examples/demo
port=${PORT:-21100}
url=http://127.0.0.1:$port
suite=${SUITE:-bookworm}

work=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then
        # `unshare` holds back what may be caught, and its child ends with it; `boot.sh` does that itself.
        [ "$kind" = systemd ] && signal=TERM || signal=KILL
        kill "-$signal" "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
root=$work/root

step() { echo "== $*"; }
fail() { echo "failed: $*" >&2; [ ! -f "$work/log" ] || tail -n 40 "$work/log" >&2; exit 1; }

# Becomes a command in the root, with what programs expect of a machine and a table of processes of its own.
enter() {
    # shellcheck disable=SC2016 -- the variables are those of the inner shell
    exec unshare --mount --pid --fork --kill-child --propagation private sh -c '
        root=$1; shift
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && exec chroot "$root" env -i "$@"' \
        sh "$root" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Runs a command in the root.
inside() { (enter "$@"); }

# The bare system.
bare() {
    if [ -n "${BASE:-}" ] && [ -d "$BASE" ]; then
        cp -a "$BASE" "$root"
    else
        debootstrap --variant=minbase "$suite" "$root" >"$work/log" || fail debootstrap
        [ -z "${BASE:-}" ] || cp -a "$root" "$BASE"
    fi
    rm -f "$work/log"
    # No package may start anything.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 0755 "$root/usr/sbin/policy-rc.d"
}

install_packages() {
    inside env DEBIAN_FRONTEND=noninteractive sh -c \
        'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@" >"$work/log" 2>&1 ||
        fail "apt-get install $*"
}

# Serves: runs a command as the user `$1`, who has the demo in the directory `$2`.
serve() {
    user=$1
    place=$2
    shift 2
    mkdir -p "$root$place"
    cp -R "$demo/." "$root$place"
    chroot "$root" chown -R "$user" "$place"
    group=$(chroot "$root" id -g "$user")
    enter setpriv --reuid="$user" --regid="$group" --clear-groups "$@" >"$work/log" 2>&1 &
    server=$!
    tries=0
    until curl -sf -o "$work/ready" "$url/ready"; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] && kill -0 "$server" 2>/dev/null || fail "no server is ready at $url"
        sleep 0.2
    done
}

# Compares the response to a request with what must be in it.
expect() { # what is in it, arguments of curl
    text=$1
    shift
    told=$(curl -sS --max-time 60 "$@" 2>&1) || fail "curl $*: $told"
    case $told in *"$text"*) echo "ok  $*" ;; *) fail "curl $*: $told" ;; esac
}

# What the demo must answer. Functions of R are left out where there is no R.
ask() {
    expect '{"city":"Elgin, Scotland, the UK","lat":57.653484}' -g \
        "$url/api/tables/uk_cities?columns=city,lat&filter[lat]gt=57.5"
    expect '[{"n":121}]' "$url/api/sql" -d 'select count(*) as n from launches'
    expect '[{"city":"Elgin, Scotland, the UK"}]' "$url/api/graphql" -d '{ uk_cities(limit: 1) { city } }'
    expect '"title":"On engines"' "$url/api/records/posts?filter=visits,gt,200"
    expect 'Starlink-21 (v1.0)' "$url/api/kv/launch_name/600f9a8d8f798e2a4d5f979e"
    expect 'PAR1' --output - "$url/api/tables/orders.parquet?limit=1"
    expect '' -f "$url/api/streams/clicks" -d '{"user":"ada","page":"/"}'
    expect '[{"n":1}]' "$url/api/sql" -d 'select count(*) as n from clicks'
    expect '<title>' -H 'accept: text/html' "$url/"
    chroot "$root" sh -c 'command -v python3' >/dev/null && expect 'desserts' "$url/words/stressed/reversed"
    chroot "$root" sh -c 'command -v Rscript' >/dev/null && expect '55' "$url/api/functions/maths/fib" -d '{"n":10}'
    true
}

# Ends the server, which must end well.
stop() {
    kill -TERM "$(pgrep --parent "$server")"
    wait "$server" || fail "the server ended with $?"
    server=
    echo "ok  it ends at SIGTERM"
}

try_deb() {
    bare
    cp "$package" "$root/tmp/salver.deb"
    step "apt-get install ./salver.deb"
    install_packages /tmp/salver.deb python3
    inside salver --version
    inside sh -ec '
        getent passwd salver >/dev/null
        test "$(stat -c "%U:%G %a" /etc/salver)" = "root:salver 750"
        test -s /usr/share/man/man1/salver.1.gz
        test -s /usr/share/bash-completion/completions/salver
        test -s /usr/lib/systemd/system/salver.service
        test -s /usr/share/doc/salver/examples/demo/salver.toml
        bash -n /usr/share/bash-completion/completions/salver
        printf "[[dataset]]\nname = \"cities\"\nsource = \"/usr/share/doc/salver/examples/demo/data/uk_cities.csv\"\n" \
            >>/etc/salver/salver.toml
        setpriv --reuid=salver --regid=salver --clear-groups salver check --config /etc/salver/salver.toml' ||
        fail "the package is not as it should be"
    step "the demo, as the user salver"
    serve salver /srv/demo salver serve --listen "127.0.0.1:$port" --config /srv/demo/salver.toml
    ask
    stop
    step "apt-get purge"
    inside sh -ec 'touch /var/lib/salver/kept
        DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq salver
        test ! -e /usr/bin/salver; test ! -e /etc/salver/salver.toml; test -e /var/lib/salver/kept' >"$work/log" 2>&1 ||
        fail "purge"
    echo "ok  what is left is the data directory"
}

# Runs a command in the system that is booted.
booted() {
    first=$(pgrep --parent "$(pgrep --parent "$server" --full unshare)")
    nsenter --target "$first" --mount --pid --uts --ipc --cgroup --root --wdns=/ env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_PAGER= "$@"
}

# Asks again until a command says so.
until_so() {
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -ge 150 ]; then
            booted systemctl --no-pager status salver.service salver.socket || true
            booted journalctl --no-pager --unit salver --lines 30 || true
            fail "not so: $*"
        fi
        sleep 0.2
    done
    echo "ok  $*"
}

# Whether a property of the service has a text in it.
state_has() { booted systemctl show salver --property "$1" | grep -q -e "$2"; }

try_systemd() {
    bare
    cp "$package" "$root/srv/salver.deb"
    step "apt-get install ./salver.deb systemd"
    install_packages systemd systemd-sysv dbus python3 /srv/salver.deb
    rm "$root/usr/sbin/policy-rc.d"
    cat >"$root/etc/salver/salver.toml" <<SETTINGS
[server]
listen = "127.0.0.1:$port"
data_dir = "/var/lib/salver"

[[dataset]]
name = "cities"
source = "/usr/share/doc/salver/examples/demo/data/uk_cities.csv"

[[stream]]
name = "clicks"

[[function]]
file = "/usr/share/doc/salver/examples/demo/functions/words.py"
sandbox = "strict"
network = false
SETTINGS
    # Shorter, so that it is seen whether the server says that it is alive; and a socket of another address.
    mkdir -p "$root/etc/systemd/system/salver.service.d" "$root/etc/systemd/system/salver.socket.d"
    printf '[Service]\nWatchdogSec=2s\n' >"$root/etc/systemd/system/salver.service.d/try.conf"
    printf '[Socket]\nListenStream=\nListenStream=127.0.0.1:%s\n' "$((port + 1))" \
        >"$root/etc/systemd/system/salver.socket.d/try.conf"
    step "boot"
    "$here/boot.sh" "$root" >"$work/log" 2>&1 &
    server=$!
    until_so booted systemctl is-active multi-user.target
    booted systemctl start salver || fail "systemctl start"
    expect '"city":"Elgin' "$url/api/tables/cities?limit=1"
    expect 'desserts' "$url/words/stressed/reversed"
    expect '"taken":1' "$url/api/streams/clicks" -d '{}'
    booted systemctl reload salver || fail "systemctl reload"
    until_so booted sh -c 'journalctl --unit salver | grep "the settings were read again"'
    step "an upgrade restarts it"
    pid=$(booted systemctl show salver --property MainPID)
    booted env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --reinstall /srv/salver.deb >"$work/log" 2>&1 ||
        fail "apt-get install --reinstall"
    if state_has MainPID "^$pid\$"; then fail "it runs as before"; fi
    expect '"city":"Elgin' "$url/api/tables/cities?limit=1"
    step "a socket of systemd"
    booted systemctl stop salver
    booted systemctl start salver.socket
    expect '[{"n":1}]' "http://127.0.0.1:$((port + 1))/api/sql" -d 'select count(*) as n from clicks'
    step "its state, and the watchdog"
    until_so state_has StatusText '3 entries are served'
    sleep 5
    until_so state_has NRestarts '^NRestarts=0$'
    until_so state_has ActiveState active
    booted systemctl stop salver.socket salver
    until_so state_has Result success
    booted systemctl halt || true
    wait "$server" || true
    server=
}

try_wheel() {
    bare
    step "pip install"
    install_packages python3-venv
    cp "$package" "$root/tmp/"
    inside sh -ec 'python3 -m venv /opt/salver && /opt/salver/bin/pip install --no-index --quiet "/tmp/$1"' sh \
        "$(basename "$package")" || fail "pip install"
    inside /opt/salver/bin/salver --version
    step "the demo, as nobody"
    # Who has no home has no place for a cache.
    serve nobody /srv/demo env HOME=/srv/demo /opt/salver/bin/salver serve --listen "127.0.0.1:$port" --config /srv/demo/salver.toml
    ask
    stop
    inside sh -ec '/opt/salver/bin/pip uninstall --quiet --yes salver; test ! -e /opt/salver/bin/salver' ||
        fail "pip uninstall"
    echo "ok  pip uninstall"
}

try_image() {
    bare
    step "the steps of the Containerfile"
    mkdir "$work/packages"
    cp "$package" "$work/packages"
    image=$("$here/rootfs.py" "$work/packages" "$root" "WITH=python3 r-base-core" 2>"$work/log" | tail -n 1) || true
    [ -n "$image" ] || fail "rootfs.py"
    echo "$image"
    part() { echo "$image" | python3 -c "import json, sys; image = json.load(sys.stdin); print($1)"; }
    user=$(part 'image["user"]')
    command=$(part '" ".join(image["entrypoint"] + image["command"])')
    variables=$(part '" ".join(f"{name}={value}" for name, value in image["environment"].items())')
    du -sh "$root" | cut -f1
    step "the demo, as $user: $command"
    # All that is not as in the image is where it listens.
    # shellcheck disable=SC2086 -- lists of words
    serve "$user" "$(part 'image["directory"]')" env --chdir="$(part 'image["directory"]')" $variables \
        "SALVER_SERVER_LISTEN=127.0.0.1:$port" HOME=/nonexistent $command
    ask
    stop
}

case $kind in
deb) try_deb ;;
systemd) try_systemd ;;
wheel) try_wheel ;;
image) try_image ;;
*) sed -n 's/^#   //p' "$0" >&2; exit 2 ;;
esac
echo "$kind: all is well"
