#!/bin/sh
# Boots a root file system that has systemd, beside the system that runs: with its own processes, mounts, control groups
# and name, and the same network. Ends when the system in it is halted, or when this is killed.
#
#   packaging/boot.sh ROOT
#
# Needs root. The root is made the root of a namespace and not one of `chroot`, in which no user namespace can be made, as
# the sandboxes of functions need.
set -eu

root=$(realpath "$1")
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
own=$groups/salver-boot-$$
mkdir "$own"
(sh -c 'echo $PPID' >"$own/cgroup.procs" && exec unshare --mount --pid --fork --uts --ipc --cgroup --kill-child \
    --propagation private sh -euc '
    cd "$1"
    mount --bind . . && cd "$1"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs tmpfs run
    mount -t tmpfs tmpfs dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    mount -t tmpfs tmpfs dev/shm
    mknod -m 666 dev/null c 1 3
    mknod -m 666 dev/zero c 1 5
    mknod -m 666 dev/full c 1 7
    mknod -m 666 dev/random c 1 8
    mknod -m 666 dev/urandom c 1 9
    mknod -m 666 dev/tty c 5 0
    mkdir -p mnt/before
    pivot_root . mnt/before
    umount -l /mnt/before
    exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        /lib/systemd/systemd --system --log-target=console' sh "$root") &
child=$!
# It holds back what may be caught; its child ends with it.
trap 'kill -KILL "$child"' HUP INT TERM
wait "$child" || true
wait "$child" || true
# Its processes end with the first of them, which may take a moment.
tries=0
while [ -d "$own" ] && [ "$tries" -lt 50 ]; do
    find "$own" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.1
    tries=$((tries + 1))
done
