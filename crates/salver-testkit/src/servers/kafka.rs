//! A real Kafka broker of one node: how it is run, and what its topics hold as an outsider sees it.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::guard::{Directory, Guard, Running};
use super::programs::program;
use super::{START_S, free_port, log_of};

/// The release that `xtask/setup.sh` fetches.
const RELEASE: &str = "4.1.0";
/// Any 16 bytes in base 64.
const CLUSTER: &str = "c2FsdmVyLXRlc3Qta2Fma2";
/// The number of the request that makes topics, and the newest version of it that is plain to write.
const CREATE_TOPICS: (i16, i16) = (19, 2);

/// The broker of this process.
pub fn kafka() -> &'static Kafka {
    static BROKER: OnceLock<Kafka> = OnceLock::new();
    BROKER.get_or_init(Kafka::start)
}

/// A broker.
#[derive(Debug)]
pub struct Kafka {
    port: u16,
    /// How Java runs: for few tests in little memory, or long and fast.
    java: Vec<String>,
    /// Before the directory: the broker ends before its files do.
    running: Running,
    directory: Directory,
}

/// A record as it lies in a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRecord {
    /// Its partition.
    pub partition: u32,
    /// Its offset there.
    pub offset: u64,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Its value; empty for a tombstone.
    pub value: Vec<u8>,
    /// Whether it has no value.
    pub is_tombstone: bool,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its time, in milliseconds since 1970.
    pub time_ms: i64,
}

impl Kafka {
    /// Starts a broker for tests, which takes little memory and is up soon.
    ///
    /// # Panics
    ///
    /// When its files are missing, or it doesn't start.
    #[must_use]
    pub fn start() -> Self {
        Self::with_java(&["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
    }

    /// Starts a broker for measuring.
    ///
    /// # Panics
    ///
    /// As `start`.
    #[must_use]
    pub fn start_fast() -> Self {
        Self::with_java(&["-Xms1g", "-Xmx1g", "-XX:+UseG1GC"])
    }

    fn with_java(java: &[&str]) -> Self {
        let mut broker = Self {
            port: 0,
            java: java.iter().map(|&word| word.to_owned()).collect(),
            running: Running::default(),
            directory: Directory::for_server("kafka"),
        };
        // A port that was free a moment ago may be taken by now; then there is another.
        for _ in 0..5 {
            broker.port = free_port();
            broker.format();
            if broker.run() {
                return broker;
            }
        }
        panic!("Kafka does not start:\n{}", broker.log());
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Makes a topic; with settings as Kafka calls them.
    ///
    /// # Panics
    ///
    /// When the broker says no.
    pub fn create_topic(&self, topic: &str, partitions: u32, settings: &[(&str, &str)]) {
        let mut body = Vec::new();
        put_count(&mut body, 1);
        put_text(&mut body, topic);
        body.extend_from_slice(&partitions.to_be_bytes());
        // One replica, laid where the broker likes.
        body.extend_from_slice(&1_i16.to_be_bytes());
        put_count(&mut body, 0);
        put_count(&mut body, settings.len());
        for (name, value) in settings {
            put_text(&mut body, name);
            put_text(&mut body, value);
        }
        body.extend_from_slice(&30_000_i32.to_be_bytes());
        body.push(0);
        // The answer: its number, a pause, one topic by its name, and what became of it.
        let answer = self.request(CREATE_TOPICS, &body).expect("an answer to a new topic");
        let at = 4 + 4 + 4 + 2 + topic.len();
        assert_eq!(answer.get(at..at + 2), Some(&[0, 0][..]), "the topic {topic} is made: {answer:?}");
    }

    /// Everything in a topic, by partition and offset, read with kcat.
    ///
    /// # Panics
    ///
    /// When kcat fails.
    #[must_use]
    pub fn outside(&self, topic: &str) -> Vec<TopicRecord> {
        let format = "%p %o %T %K %S\n%k%s%h\n";
        let output = Command::new(program("kcat"))
            .args(["-C", "-b", &self.address(), "-t", topic, "-o", "beginning", "-e", "-q", "-f", format])
            .stdin(Stdio::null())
            .output()
            .expect("kcat runs");
        assert!(output.status.success(), "kcat: {}", String::from_utf8_lossy(&output.stderr));
        let mut rest = &output.stdout[..];
        let mut records = Vec::new();
        while !rest.is_empty() {
            records.push(take_record(&mut rest).expect("a record as kcat was told to write it"));
        }
        records.sort_by_key(|record| (record.partition, record.offset));
        records
    }

    /// Runs one of Kafka's own tools by the name of its class, and gives what it printed.
    ///
    /// # Panics
    ///
    /// When it fails.
    #[must_use]
    pub fn tool(&self, class: &str, arguments: &[&str]) -> String {
        let output = Command::new(program("java"))
            .args(["-Xmx512m", "-cp", &jars(), class])
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .output()
            .expect("java runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{class}:\n{said}{}", String::from_utf8_lossy(&output.stderr));
        said
    }

    /// Stops the broker where it stands; it keeps its connections and answers nothing.
    pub fn pause(&self) {
        self.running.signal("STOP");
    }

    /// Lets a paused broker go on.
    pub fn resume(&self) {
        self.running.signal("CONT");
    }

    /// Kills the broker; its files stay.
    pub fn kill(&self) {
        self.running.kill();
    }

    /// Ends the broker in good order; its files stay.
    pub fn stop(&self) {
        self.running.end();
    }

    /// Starts a broker that was ended, on the same port and files.
    ///
    /// # Panics
    ///
    /// When it doesn't start.
    pub fn restart(&self) {
        let patience = Instant::now() + Duration::from_secs(START_S);
        while !self.run() {
            assert!(Instant::now() < patience, "Kafka does not start again:\n{}", self.log());
        }
    }

    /// Writes the settings and the empty log of a new broker.
    fn format(&self) {
        let place = self.directory.path();
        let (port, controller, data) = (self.port, free_port(), place.join("data"));
        let mut text = String::new();
        let settings = [
            ("process.roles", "broker,controller".to_owned()),
            ("node.id", "1".to_owned()),
            ("controller.quorum.voters", format!("1@127.0.0.1:{controller}")),
            ("listeners", format!("PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}")),
            ("advertised.listeners", format!("PLAINTEXT://127.0.0.1:{port}")),
            ("controller.listener.names", "CONTROLLER".to_owned()),
            ("inter.broker.listener.name", "PLAINTEXT".to_owned()),
            ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT".to_owned()),
            ("log.dirs", data.display().to_string()),
            // A broker that was killed may register again as soon as it is back.
            ("broker.session.timeout.ms", "1000".to_owned()),
            ("broker.heartbeat.interval.ms", "200".to_owned()),
            ("num.partitions", "3".to_owned()),
            ("num.network.threads", "2".to_owned()),
            ("num.io.threads", "4".to_owned()),
            ("offsets.topic.num.partitions", "1".to_owned()),
            ("offsets.topic.replication.factor", "1".to_owned()),
            ("transaction.state.log.replication.factor", "1".to_owned()),
            ("transaction.state.log.min.isr", "1".to_owned()),
            ("share.coordinator.state.topic.replication.factor", "1".to_owned()),
            ("share.coordinator.state.topic.min.isr", "1".to_owned()),
            ("group.initial.rebalance.delay.ms", "0".to_owned()),
            ("auto.create.topics.enable", "true".to_owned()),
            ("log.cleaner.dedupe.buffer.size", "4194304".to_owned()),
        ];
        for (name, value) in settings {
            let _ = writeln!(text, "{name}={value}");
        }
        std::fs::write(place.join("server.properties"), text).expect("a file for the broker");
        let _ = std::fs::remove_dir_all(&data);
        let _ = self.tool("kafka.tools.StorageTool", &["format", "-t", CLUSTER, "-c", "server.properties"]);
    }

    /// Runs the broker and waits until it answers; `false` when it ended instead.
    fn run(&self) -> bool {
        let mut command = vec![program("java").display().to_string()];
        command.extend_from_slice(&self.java);
        command.extend(["-cp", &jars(), "kafka.Kafka", "server.properties"].map(str::to_owned));
        self.running.up(Guard::start(self.directory.path(), "TERM", &command), || self.answers())
    }

    /// Whether the broker tells of itself: it listens some time before it does.
    fn answers(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
            && Command::new(program("kcat"))
                .args(["-L", "-b", &self.address(), "-m", "2"])
                .stdin(Stdio::null())
                .output()
                .is_ok_and(|told| {
                    told.status.success() && String::from_utf8_lossy(&told.stdout).contains(&self.address())
                })
    }

    /// Sends a request in Kafka's own protocol and gives the answer behind its length.
    fn request(&self, (key, version): (i16, i16), body: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut message = Vec::new();
        message.extend_from_slice(&key.to_be_bytes());
        message.extend_from_slice(&version.to_be_bytes());
        message.extend_from_slice(&1_i32.to_be_bytes());
        put_text(&mut message, "salver-testkit");
        message.extend_from_slice(body);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.write_all(&u32::try_from(message.len()).expect("a short request").to_be_bytes())?;
        stream.write_all(&message)?;
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        stream.read_exact(&mut answer)?;
        Ok(answer)
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(log_of(self.directory.path())).unwrap_or_default()).into_owned()
    }
}

/// Java's class path with everything that `xtask/setup.sh` fetched.
fn jars() -> String {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let place = cache.unwrap_or_default().join("salver/kafka").join(RELEASE);
    assert!(place.is_dir(), "Kafka is not in {}; `sh xtask/setup.sh test` fetches it", place.display());
    format!("{}/*", place.display())
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&i16::try_from(text.len()).expect("a short text").to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&i32::try_from(count).expect("a small count").to_be_bytes());
}

fn take_record(rest: &mut &[u8]) -> Option<TopicRecord> {
    let head = std::str::from_utf8(take_line(rest)?).ok()?;
    let numbers: Vec<i64> = head.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let &[partition, offset, time_ms, key, value] = &numbers[..] else { return None };
    let mut take = |length: i64| {
        let (part, tail) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        *rest = tail;
        Some(part.to_vec())
    };
    let key = if key < 0 { None } else { Some(take(key)?) };
    let is_tombstone = value < 0;
    let value = take(value.max(0))?;
    let headers = std::str::from_utf8(take_line(rest)?).ok()?;
    let headers = headers.split(',').filter_map(|pair| pair.split_once('='));
    Some(TopicRecord {
        partition: u32::try_from(partition).ok()?,
        offset: u64::try_from(offset).ok()?,
        key,
        value,
        is_tombstone,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        time_ms,
    })
}

fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Some(line)
}
