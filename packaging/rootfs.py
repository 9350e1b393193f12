#!/usr/bin/env python3
"""Assembles the root file system that the last stage of the Containerfile describes, without a daemon.

    packaging/rootfs.py PACKAGES DIRECTORY [NAME=VALUE]...

PACKAGES is a directory with what earlier stages build (salver_*.deb); DIRECTORY must not be there, unless it is a bare
system of Debian already; NAME=VALUE is a build argument. Needs root and debootstrap. What the image runs (its user, its
working directory, its environment and its command) is printed as one line of JSON at the end.

Only the instructions that the file has are known; any other is an error.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

FILE = pathlib.Path(__file__).with_name("Containerfile")
# What the slim images of Debian leave out of every package.
SLIM = """path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/man/*
path-exclude /usr/share/locale/*
"""
# What a container has of a machine, in a namespace that ends with the command.
INSIDE = """
root=$1; shift
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && exec chroot "$root" "$@"
"""


def instructions():
    """The instructions of the last stage: a word and the text behind it."""
    lines = [line for line in FILE.read_text().splitlines() if line.strip() and not line.startswith("#")]
    stages = [at for at, line in enumerate(lines) if line.startswith("FROM ")]
    return [line.split(maxsplit=1) for line in lines[stages[-1]:]]


def begin(image, root):
    """The system that the image begins with."""
    name, suite = image.split(":")
    if name != "debian":
        sys.exit(f"{FILE}: no way to make `{image}` without a daemon")
    suite, _, slim = suite.partition("-")
    if not root.exists():
        subprocess.run(["debootstrap", "--variant=minbase", suite, root], check=True, stdout=subprocess.DEVNULL)
    if slim == "slim":
        (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(SLIM)


def run(command, root, variables):
    """Runs a command of the shell in the root."""
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
    words += ["sh", "-c", INSIDE, "sh", root, "env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    subprocess.run([*words, "sh", "-c", command], check=True)


def copy(words, packages, root):
    """Copies what an earlier stage made: `--from=build /package/ /package/`."""
    source, place = words[1:] if words[0] == "--from=build" else sys.exit(f"{FILE}: COPY {words} is not known")
    if source != "/package/":
        sys.exit(f"{FILE}: nothing is known of {source}")
    target = root / place.strip("/")
    target.mkdir(parents=True, exist_ok=True)
    for package in packages.glob("salver_*.deb"):
        shutil.copy(package, target)


def main():
    packages, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    given = dict(word.split("=", 1) for word in sys.argv[3:])
    path = ":".join(["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])
    system = {"PATH": path, "DEBIAN_FRONTEND": "noninteractive"}
    build, image = {}, {"user": "root", "directory": "/", "environment": {}, "entrypoint": [], "command": []}
    for word, text in instructions():
        if word == "FROM":
            begin(text, root)
        elif word == "ARG":
            name, default = text.split("=", 1)
            build[name] = given.get(name, default.strip('"'))
        elif word == "ENV":
            name, value = text.split("=", 1)
            image["environment"][name] = value
        elif word == "COPY":
            copy(shlex.split(text), packages, root)
        elif word == "RUN":
            run(text, root, {**system, **build, **image["environment"]})
        elif word == "USER":
            image["user"] = text
        elif word == "WORKDIR":
            image["directory"] = text
            (root / text.strip("/")).mkdir(parents=True, exist_ok=True)
        elif word in ("ENTRYPOINT", "CMD"):
            image["entrypoint" if word == "ENTRYPOINT" else "command"] = json.loads(text)
        elif word not in ("VOLUME", "EXPOSE", "STOPSIGNAL"):
            sys.exit(f"{FILE}: {word} is not known")
    print(json.dumps(image))


if __name__ == "__main__":
    os.umask(0o022)
    main()
