"""What streams are measured against: the founding text's service and Kafka's own producer, and the broker of both."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from databases import Missing, program, run
from load import Round
from peers import Peer, Request, free_port

FOUNDING = Path(__file__).resolve().parent / "peers/founding-service"
CLUSTER = "c2FsdmVyLWJlbmNoLWthZms"  # any 16 bytes in base 64
PARTITIONS = 3
SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/logs
num.partitions={partitions}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class Kafka(Peer):
    """A broker of one node, with the settings it comes with but for one replica of everything."""

    name = "Kafka broker"

    def __init__(self, log: Path, folder: Path):
        super().__init__(log)
        self.folder = folder
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "salver/kafka"
        releases = sorted(found for found in cache.glob("*.*") if (found / f"kafka-tools-{found.name}.jar").exists())
        if not releases:
            raise Missing(f"there is no Kafka in {cache}; xtask/setup.sh bench fetches it")
        self.jars = releases[-1]
        program("kcat")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def java(self, *words, **options) -> str:
        return run([program("java"), "-cp", f"{self.jars}/*", *words], **options)

    def start(self, *_, **__) -> float:
        self.port = free_port()
        self.folder.mkdir()
        settings = self.folder / "server.properties"
        settings.write_text(SETTINGS.format(port=self.port, controller=free_port(), folder=self.folder,
                                            partitions=PARTITIONS))
        self.java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(settings))
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([program("java"), "-Xms1g", "-Xmx1g", "-cp", f"{self.jars}/*",
                                             "kafka.Kafka", str(settings)], stdout=log, stderr=log,
                                            start_new_session=True)
        started = time.perf_counter()
        while time.perf_counter() - started < 120 and self.process.poll() is None:
            if subprocess.run(["kcat", "-b", self.address, "-L", "-m", "2"], capture_output=True,
                              check=False).returncode == 0:
                return time.perf_counter() - started
        raise Missing(f"Kafka did not start; see {self.log}")

    def make(self, topic: str) -> None:
        self.java("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.address, "--create", "--topic",
                  topic, "--partitions", str(PARTITIONS))

    def count(self, topic: str) -> int:
        """How many records are in a topic, as the broker says it."""
        asked = [word for partition in range(PARTITIONS) for word in ("-t", f"{topic}:{partition}:-1")]
        said = run(["kcat", "-Q", "-b", self.address, *asked])
        return sum(int(offset) for offset in re.findall(r"offset (\d+)", said))

    def settled(self, topic: str, wanted: int, patience_s: float = 120) -> tuple[int, float]:
        """How many records are there when `wanted` are, or when for a while no more come; and the seconds that took.
        A producer gives a record up after two seconds, so longer than that."""
        started = changed = time.perf_counter()
        count = self.count(topic)
        while count < wanted and (now := time.perf_counter()) - changed < 5 and now - started < patience_s:
            time.sleep(0.05)
            if (later := self.count(topic)) != count:
                count, changed = later, time.perf_counter()
        return count, changed - started

    def produce(self, topic: str, events: Path, count: int, **settings) -> Round:
        """What Kafka's own producer benchmark reaches with these events, and these settings of the producer."""
        words = [f"{name.replace('_', '.')}={value}" for name, value in settings.items()]
        said = self.java("-Xmx512m", "org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records",
                         str(count), "--throughput", "-1", "--payload-file", str(events), "--producer-props",
                         f"bootstrap.servers={self.address}", *words)
        found = re.search(r"(\d+) records sent, ([\d.]+) records/sec.* ([\d.]+) ms 50th, .* ([\d.]+) ms 99th", said)
        if not found:
            raise RuntimeError(f"the producer benchmark says {said[-500:]}")
        return Round(float(found[2]), float(found[3]), float(found[4]), requests=int(found[1]))

    def version(self) -> str:
        return self.jars.name


class Founding(Peer):
    """The founding text's service. `durable` waits for the broker, `forget` does not."""

    def __init__(self, log: Path, scratch: Path, mode: str):
        super().__init__(log)
        self.name = {"durable": "founding service, durable", "forget": "founding service, fire-and-forget"}[mode]
        self.mode, self.target = mode, scratch / "founding-service"

    def build(self) -> None:
        cargo = shutil.which("cargo", path=f"{os.environ.get('PATH', '')}:{Path.home()}/.cargo/bin")
        if not cargo:
            raise Missing("the founding service needs cargo")
        print("building the founding service", flush=True)
        built = subprocess.run([cargo, "build", "--release", "--locked", "--quiet", "--target-dir", self.target],
                               cwd=FOUNDING, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise Missing(f"the founding service does not build: {built.stderr[-500:]}")

    def command(self, tables, keys, broker=None, topic=None, **options):
        return [self.target / "release/founding-service", str(self.port), broker.address, topic, self.mode], {}

    def spell(self, request: Request) -> Request:
        return Request("/", request.body, {"Content-Type": "application/json"})

    def version(self) -> str:
        lock = (FOUNDING / "Cargo.lock").read_text()
        parts = dict(re.findall(r'name = "(actix-web|rdkafka)"\nversion = "([^"]+)"', lock))
        return f"actix-web {parts['actix-web']}, rdkafka {parts['rdkafka']}"
