//! A server under attack, and what must be true of it afterwards.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use crate::server::Server;

/// The address space of a server under attack, in KiB: what it takes by mistake ends it, and not the machine.
const ADDRESS_SPACE_KIB: u64 = 12 * 1024 * 1024;
/// How long a healthy server may take for a small answer. A guard against hanging, no measurement: the machine may be
/// busy with other tests.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long memory and processor may take to become free.
const RECOVERY: Duration = Duration::from_secs(20);
/// Memory that comes and goes in a healthy server, in bytes: caches, and pages that the allocator keeps for a while.
const SLACK_BYTES: u64 = 96 * 1024 * 1024;

/// A server under attack.
#[derive(Debug)]
pub(crate) struct Siege {
    server: Server,
    before_bytes: u64,
}

impl Siege {
    /// Serves `files` under the configuration `toml` within a bounded address space.
    pub(crate) fn of(toml: &str, files: &[(&str, &[u8])]) -> Self {
        let bound = format!("-v {ADDRESS_SPACE_KIB}");
        let server = Server::bounded(&[&bound], toml, files);
        let before_bytes = resident_bytes(server.pid());
        Self { server, before_bytes }
    }

    /// The server.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Sends one attack, and sees that the server is well after it.
    pub(crate) fn attack<T>(&self, name: impl fmt::Display, attack: impl FnOnce(&Server) -> T) -> T {
        let outcome = attack(&self.server);
        self.is_well(name);
        outcome
    }

    /// Whether the server answers, has given its memory back and is idle.
    pub(crate) fn is_well(&self, name: impl fmt::Display) {
        let started = Instant::now();
        assert_eq!(self.server.get("/health").status, 200, "{name}: /health after the attack");
        let small = self.server.post("/api/sql", "select 1 + 1 as two");
        assert_eq!(
            (small.status, small.text().trim()),
            (200, "[{\"two\":2}]"),
            "{name}: a small query after the attack"
        );
        assert!(started.elapsed() < PATIENCE, "{name}: the server answers, but late");
        let patience = Instant::now() + RECOVERY;
        loop {
            let (resident, busy) = (resident_bytes(self.server.pid()), self.is_busy());
            let allowed = self.before_bytes + self.before_bytes / 5 + SLACK_BYTES;
            if resident <= allowed && !busy {
                return;
            }
            assert!(
                Instant::now() < patience,
                "{name}: {resident} bytes resident where {allowed} are allowed; still working: {busy}"
            );
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Whether the server answers and is idle. The memory that its threads keep for what comes next is not looked at.
    pub(crate) fn is_at_rest(&self, name: impl fmt::Display) {
        assert_eq!(self.server.get("/health").status, 200, "{name}: /health after the attack");
        let small = self.server.post("/api/sql", "select 1 + 1 as two");
        assert_eq!(
            (small.status, small.text().trim()),
            (200, "[{\"two\":2}]"),
            "{name}: a small query after the attack"
        );
        let patience = Instant::now() + RECOVERY;
        while self.is_busy() {
            assert!(Instant::now() < patience, "{name}: work goes on that nobody waits for");
        }
    }

    /// Whether the process uses more than a tenth of a processor.
    fn is_busy(&self) -> bool {
        let before = ticks(self.server.pid());
        thread::sleep(Duration::from_millis(500));
        // A tick is a hundredth of a second.
        ticks(self.server.pid()) - before > 5
    }
}

/// Memory of a process, in bytes.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the server lives");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

/// Processor time of a process, in hundredths of a second.
pub(crate) fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the server lives");
    let fields = stat.rsplit_once(')').expect("its name").1;
    let number = |index: usize| fields.split_whitespace().nth(index).and_then(|text| text.parse::<u64>().ok());
    // User and system time, fields 14 and 15 of proc(5); the state is the first behind the name.
    number(11).expect("user time") + number(12).expect("system time")
}
