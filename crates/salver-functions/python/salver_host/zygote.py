"""The zygote: loads the file once, tells the server what it offers, and forks workers when it is told to."""

import ctypes
import fcntl
import gc
import os
import resource
import signal
import socket
import sys
import threading

from salver_host import applications, faults, json_text, offer, wire, worker

_PR_SET_PDEATHSIG = 1


def main(file, path):
    """Serves a file for the server that listens on the socket at `path`; does not return."""
    control = _take_control()
    for stream in (sys.stdout, sys.stderr):
        # Both are pipes here, which Python would fill by the block.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    # Imports of the file are looked for beside it, as they are when it is run by itself.
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    sys.argv = [file]
    # A module beside the file that changes within a second would else be taken from a cache of what it was.
    sys.dont_write_bytecode = True
    try:
        with _ended_with(control):
            loaded = offer.load(file)
            told = json_text.write(loaded.offer())
    except applications.Refused as refused:
        control.sendall(wire.frame(b"P", str(refused).encode("utf-8", "replace")))
        worker.end(1)
    except BaseException as error:
        control.sendall(wire.frame(b"X", faults.last_lines(error).encode("utf-8", "replace")))
        worker.end(1)  # Threads the file started would hold up an ordinary end.
    names = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
    if names:
        told_names = ", ".join(names)
        print(f"{file}: threads started while it was loaded don't run in its workers: {told_names}", file=sys.stderr)
    control.sendall(wire.frame(b"R", told))
    Zygote(control, path, loaded.endpoints).serve()


class Zygote:
    """What forks workers, and ends them."""

    def __init__(self, control, path, endpoints):
        self._control, self._path, self._endpoints = control, path, endpoints
        self._children, self._killed = set(), set()

    def serve(self):
        """Does what the server says until the control channel ends, and then ends all workers and itself."""
        # What is there now is never collected: looking it through would copy it into every worker.
        gc.collect()
        gc.freeze()
        # What waits in a buffer would be written by every worker.
        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(signal.SIGCHLD, self._reap)
        frames = wire.Frames(self._control)
        while True:
            try:
                told = frames.next()
            except ConnectionError:
                told = None
            if told is None:
                os.killpg(0, signal.SIGKILL)
            number = wire.U32.unpack_from(told, 5)[0]
            if told[4:5] == b"F":
                for _ in range(number):
                    self._fork()
            elif told[4:5] == b"K" and number in self._children:
                self._killed.add(number)
                os.kill(number, signal.SIGKILL)

    def _fork(self):
        parent = os.getpid()
        try:
            child = os.fork()
        except OSError as error:
            print(f"no further worker could be started: {error}", file=sys.stderr)
            return
        if child:
            self._children.add(child)
            return
        code = 1
        try:
            self._prepare(parent)
            worker.run(self._path, self._endpoints)
            code = 0
        except (ConnectionError, FileNotFoundError):
            code = 0  # The server is gone, or has no use for this worker.
        except BaseException as error:
            print(faults.detail(error), file=sys.stderr)
        finally:
            worker.end(code)

    def _prepare(self, parent):
        """Makes a process of its own of what was a copy of the zygote."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._control.close()
        _die_with(parent)
        if "numpy" in sys.modules:  # Python's own `random` does this by itself.
            sys.modules["numpy"].random.seed()
        _bound_memory()

    def _reap(self, *_):
        while self._children:
            try:
                child, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            if child in self._children and child not in self._killed and os.WIFSIGNALED(status):
                # Not printed: a handler may have interrupted what is being printed.
                os.write(2, b"a worker ended by signal %d\n" % os.WTERMSIG(status))
            self._children.discard(child)
            self._killed.discard(child)


def _take_control():
    """The control channel, moved away from standard input, and a process group of its own."""
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    return control


class _ended_with:
    """Within it, the process ends when the control channel does, though nobody reads it: loading a file may take long,
    and its server may be gone meanwhile."""

    def __init__(self, control):
        self._control = control

    def __enter__(self):
        self._before = signal.signal(signal.SIGIO, self._look)
        fcntl.fcntl(self._control, fcntl.F_SETOWN, os.getpid())
        self._flags = fcntl.fcntl(self._control, fcntl.F_GETFL)
        fcntl.fcntl(self._control, fcntl.F_SETFL, self._flags | os.O_ASYNC)
        self._look()

    def __exit__(self, *_):
        fcntl.fcntl(self._control, fcntl.F_SETFL, self._flags)
        signal.signal(signal.SIGIO, self._before)

    def _look(self, *_):
        try:
            ended = not self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            ended = False
        except ConnectionError:
            ended = True
        if ended:
            os.killpg(0, signal.SIGKILL)


def _die_with(parent):
    """Should the zygote be killed, its workers go too."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return  # Only Linux has it; elsewhere the worker's connection ends.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _bound_memory():
    """Bounds what this process may take over what the loaded file needs."""
    bound = os.environ.get("SALVER_MEMORY_BYTES_MAX")
    if not bound:
        return
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            used = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    except (OSError, StopIteration):
        used = 0
    resource.setrlimit(resource.RLIMIT_DATA, (int(bound) + used, int(bound) + used))
