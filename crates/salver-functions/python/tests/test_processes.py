"""What functions do to their process, and how processes begin and end."""

import os
import signal
import time
import unittest
from pathlib import Path

from served import SECONDS_MAX, Ended, Served

SOURCE = '''
import ctypes, os, random, signal, subprocess, sys, time
from salver import Response

DATA = list(range(1000))
COUNT = 0
print("loaded", end="")

def one(): return 1
def pid(): return os.getpid()
def parent(): return os.getppid()
def chance(): return random.random()
def count():
    global COUNT
    COUNT += 1
    return [COUNT, len(DATA)]
def leave(code): sys.exit(code)
def leave_at_once(): os._exit(3)
def shoot(number: int): os.kill(os.getpid(), number)
def crash(): ctypes.string_at(0)
def recurse(): return recurse()
def allocate(): return len(bytearray(1 << 40))
def hoard():
    kept = []
    while True:
        kept.append(" " * 100_000 + str(len(kept)))
def talk():
    print("to the one")
    print("to the other é\\udc80", file=sys.stderr)
    os.write(1, b"raw\\n")
    return 1
def heard(): return sys.stdin.read()
def run(code: int): return subprocess.run(["sh", "-c", f"exit {code}"]).returncode
def child(): return subprocess.Popen(["sleep", "1000"]).pid
def hang(): time.sleep(1000)
def group(): return os.getpgrp()
def interrupted(): raise KeyboardInterrupt
def swallow():
    try:
        sys.exit(1)
    except SystemExit:
        return "still here"
def drip():
    yield 1
    sys.exit(1)
'''


def until(condition, said):
    """Waits for a condition."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"in vain: {said}")
        time.sleep(0.005)


def is_gone(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


class Processes(unittest.TestCase):
    def setUp(self):
        self.served = self.enterContext(Served(SOURCE, environment={"SALVER_MEMORY_BYTES_MAX": str(256 << 20)}))
        names = [each["function"] for each in self.served.offer()["endpoints"]]
        self.number = {name: index for index, name in enumerate(names)}
        self.worker = self.served.worker()

    if not hasattr(unittest.TestCase, "enterContext"):  # Before Python 3.11.
        def enterContext(self, context):
            self.addCleanup(context.__exit__)
            return context.__enter__()

    def call(self, name, arguments=None, worker=None):
        return (worker or self.worker).call(self.number[name], arguments)

    def ends(self, name, arguments=None):
        with self.assertRaises(Ended):
            self.call(name, arguments)
        # The next worker is as good as the first.
        self.worker = self.served.worker()
        self.assertEqual(self.call("one").json(), 1)

    def test_workers(self):
        self.served.fork(3)
        workers = [self.worker] + [self.served.accept() for _ in range(3)]
        self.assertEqual([self.call("pid", worker=each).json() for each in workers], [each.process for each in workers])
        self.assertEqual(len({self.call("chance", worker=each).json() for each in workers}), 4)
        self.assertEqual({self.call("parent", worker=each).json() for each in workers}, {self.served.process.pid})
        self.assertEqual({self.call("group", worker=each).json() for each in workers}, {self.served.process.pid})
        self.assertEqual([self.call("count").json() for _ in range(2)], [[1, 1000], [2, 1000]])
        self.assertEqual(self.call("count", worker=workers[1]).json(), [1, 1000])
        # What was in a buffer when the workers were forked is written once.
        self.assertEqual(self.served.logged().count("loaded"), 1)

    def test_one_is_killed(self):
        other = self.served.worker()
        self.worker.connection.sendall(b"")
        self.served.kill(self.worker.process)
        with self.assertRaises(Ended):
            self.worker.read()
        self.assertEqual(self.call("one", worker=other).json(), 1)
        until(lambda: not Path(f"/proc/{self.worker.process}").exists(), "the zygote waits for what it killed")
        self.assertNotIn("signal", self.served.logged())

    def test_only_workers_are_killed(self):
        stranger = os.fork()
        if stranger == 0:
            time.sleep(SECONDS_MAX)
            os._exit(7)
        self.served.kill(stranger)
        self.served.worker()  # So the zygote has read the order before.
        self.assertEqual(os.waitpid(stranger, os.WNOHANG), (0, 0))
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)

    def test_a_connection_that_ends(self):
        self.worker.connection.close()
        until(lambda: is_gone(self.worker.process), "the worker ends with its connection")

    def test_the_channel_that_ends(self):
        child = self.call("child").json()
        hanging = self.served.worker()
        hanging.connection.sendall(b"")
        self.served.control.connection.close()
        self.assertEqual(self.served.process.wait(SECONDS_MAX), -signal.SIGKILL)
        for process in (self.worker.process, hanging.process, child):
            until(lambda: is_gone(process), "all of the group end with the channel")

    def test_a_zygote_that_is_killed(self):
        self.served.process.kill()
        until(lambda: is_gone(self.worker.process), "the worker ends with its zygote")

    def test_a_channel_that_ends_while_the_file_is_loaded(self):
        with Served("import time\nprint('begun')\nwhile True: time.sleep(0.01)") as served:
            until(lambda: "begun" in served.logged(), "the file begins")
            served.control.connection.close()
            self.assertEqual(served.process.wait(SECONDS_MAX), -signal.SIGKILL)

    def test_orders_that_come_while_the_file_is_loaded(self):
        with Served("import time\nprint('begun')\ntime.sleep(0.1)\ndef f(): return 1") as served:
            served.fork(1)
            served.offer()
            self.assertEqual(served.accept().call(0).json(), 1)

    def test_leaving(self):
        self.ends("leave", {"code": 3})
        self.ends("leave", {"code": "good bye"})
        self.assertIn("good bye\n", self.served.logged())
        self.ends("leave_at_once")
        self.ends("drip")
        self.assertEqual(self.call("swallow").json(), "still here")

    def test_crashes(self):
        self.ends("crash")
        self.ends("shoot", {"number": int(signal.SIGKILL)})
        self.ends("shoot", {"number": int(signal.SIGTERM)})
        until(lambda: "ended by signal 11" in self.served.logged(), "the log says how it ended")
        until(lambda: "ended by signal 9" in self.served.logged(), "the log says how it ended")

    def test_recursion(self):
        for _ in range(3):
            answer = self.call("recurse")
            self.assertEqual((answer.kind, answer.why), (b"X", 0))
            self.assertIn("RecursionError", answer.detail)
            self.assertLess(len(answer.detail), 20_000)

    def test_memory(self):
        for name in ("allocate", "hoard", "allocate"):
            answer = self.call(name)
            self.assertEqual((answer.kind, answer.why), (b"X", 1), name)
            self.assertEqual(answer.message, f"the function `{name}` needs more memory than it may have")
            self.assertEqual(self.call("one").json(), 1)

    def test_output(self):
        self.assertEqual(self.call("talk").json(), 1)
        for line in ("to the one\n", "to the other é\\udc80\n", "raw\n"):
            self.assertIn(line, self.served.logged())

    def test_input(self):
        self.assertEqual(self.call("heard").json(), "")

    def test_programs_a_function_runs(self):
        self.assertEqual([self.call("run", {"code": code}).json() for code in (0, 5)], [0, 5])

    def test_an_interrupt_is_an_error(self):
        answer = self.call("interrupted")
        self.assertEqual((answer.kind, answer.why), (b"X", 0))
        self.assertEqual(self.call("one").json(), 1)


if __name__ == "__main__":
    unittest.main()
