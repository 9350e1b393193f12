"""Counts the round trips between a server and its database: stands between the two and passes the bytes on."""

import socket
import threading


class Counter:
    """A port before a port. A round trip begins when the client sends something after it was answered, so that what
    it sends in one go, or before the answer to an earlier question is there, counts once."""

    def __init__(self, port: int):
        self.target, self.trips = port, 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # Closed.
                return
            server = socket.create_connection(("127.0.0.1", self.target))
            waiting = threading.Event()
            for source, sink, asks in [(client, server, True), (server, client, False)]:
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pass_on, args=(source, sink, waiting, asks), daemon=True).start()

    def pass_on(self, source, sink, waiting, asks: bool) -> None:
        try:
            while piece := source.recv(1 << 16):
                if not asks:
                    waiting.clear()
                elif not waiting.is_set():
                    waiting.set()
                    with self.lock:
                        self.trips += 1
                sink.sendall(piece)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self) -> None:
        self.listener.close()
