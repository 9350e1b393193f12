//! Two servers on one data directory: the second waits, and takes over however the first ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::served::{PATIENCE, Served, until};
use super::server::Answer;
use super::transport::activated;

const PROGRAM: &str = env!("CARGO_BIN_EXE_salver");
const STREAM: &str = "[[stream]]\nname = \"events\"\n";

/// A directory with settings that name a data directory.
fn directory(settings: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let text = format!("[server]\ndata_dir = \"{}\"\n{settings}", directory.path().join("kept").display());
    std::fs::write(directory.path().join("salver.toml"), text).expect("a file");
    directory
}

fn command(directory: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(directory.join("salver.toml"));
    command
}

/// A server that waits; ends with the value.
struct Waiting {
    child: Child,
    /// What it says, line by line.
    said: Receiver<String>,
}

impl Waiting {
    /// Starts a server, which must come to wait for the process `pid`.
    #[track_caller]
    fn start(mut command: Command, pid: u32, directory: &Path) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program is there");
        let mut log = BufReader::new(child.stderr.take().expect("its log")).lines().map_while(Result::ok);
        let line = log.find(|line| line.contains("waiting for")).expect("it waits");
        assert!(line.contains(&format!("the process {pid}, ")), "{line}");
        assert!(line.contains(directory.join("kept").to_str().expect("a path")), "{line}");
        std::thread::spawn(move || log.for_each(drop));
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let (sender, said) = channel();
        std::thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
        let mut waiting = Self { child, said };
        assert!(waiting.said.try_recv().is_err(), "it listens to nobody");
        assert!(matches!(waiting.child.try_wait(), Ok(None)));
        waiting
    }

    /// Where it listens, once it does.
    #[track_caller]
    fn address(&self) -> String {
        loop {
            let line = self.said.recv_timeout(PATIENCE).expect("it takes over");
            if let Some((_, address)) = line.split_once("listening on http://") {
                return address.trim().to_owned();
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(address: &str, method: &str, target: &str, body: &str) -> Answer {
    let Ok(mut stream) = TcpStream::connect(address) else { return Answer::parse(&[]) };
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let length = body.len();
    let head = format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    let request = format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}");
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Answer::parse(&answer)
}

fn place_of(served: &Served) -> String {
    served.place.trim_start_matches("http://").to_owned()
}

#[test]
fn the_second_takes_over_however_the_first_ends() {
    for signal in ["-TERM", "-KILL"] {
        let directory = directory(STREAM);
        let mut first = Served::start(command(directory.path()));
        let own = place_of(&first);
        until("events are taken", || ask(&own, "POST", "/api/streams/events", "{\"n\":1}").status == 200);
        let second = Waiting::start(command(directory.path()), first.child.id(), directory.path());
        // A hang-up is nothing to one that waits.
        let hung_up = Command::new("kill").args(["-HUP", &second.child.id().to_string()]).status().expect("kill");
        assert!(hung_up.success());
        assert_eq!(ask(&own, "GET", "/health", "").status, 200, "the first serves");
        first.signal(signal);
        first.child.wait().expect("its end");
        let own = second.address();
        until("the second takes events", || ask(&own, "POST", "/api/streams/events", "{\"n\":2}").status == 200);
        let rows = ask(&own, "GET", "/api/sql?q=select+count(*)+as+n+from+events", "");
        assert_eq!(rows.text(), "[{\"n\":2}]", "{signal}");
    }
}

/// The settings count as they are then.
#[test]
fn the_second_reads_its_settings_again() {
    let directory = directory("");
    std::fs::write(directory.path().join("people.csv"), "id\n1\n").expect("a file");
    let mut with = command(directory.path());
    with.arg(directory.path().join("people.csv"));
    let mut first = Served::start(with);
    let mut with = command(directory.path());
    with.arg(directory.path().join("people.csv"));
    let second = Waiting::start(with, first.child.id(), directory.path());
    let settings = std::fs::read_to_string(directory.path().join("salver.toml")).expect("the settings");
    let settings = settings.replace("[server]\n", "[server]\nbase_path = \"/later\"\n");
    std::fs::write(directory.path().join("salver.toml"), settings).expect("a file");
    first.signal("-TERM");
    first.child.wait().expect("its end");
    let own = second.address();
    let own = own.trim_end_matches("/later");
    until("it is ready", || ask(own, "GET", "/later/ready", "").status == 200);
    assert_eq!(ask(own, "GET", "/later/api/tables/people", "").text(), "[{\"id\":1}]");
}

#[test]
fn without_waiting() {
    let directory = directory(STREAM);
    let first = Served::start(command(directory.path()));
    let mut second = command(directory.path());
    let refused = second.arg("--no-wait").output().expect("the program is there");
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("the process {}", first.child.id())) && said.contains("hint: "), "{said}");
    // What only reads waits for nobody.
    for arguments in [["check", "--config"], ["config", "show"]] {
        let mut reading = Command::new(PROGRAM);
        reading.args(arguments);
        if arguments[0] == "config" {
            reading.arg("--config");
        }
        let read = reading.arg(directory.path().join("salver.toml")).output().expect("the program is there");
        assert!(read.status.success(), "{arguments:?}: {read:?}");
    }
}

fn sharing(directory: &Path) -> Command {
    let mut command = command(directory);
    command.env("SALVER_SERVER_DATA_DIR_IN_USE", "share");
    command
}

/// Servers that share the directory serve side by side; the stream is the first one's.
#[test]
fn servers_that_share() {
    let directory = directory(STREAM);
    let first = Served::start(sharing(directory.path()));
    let own = place_of(&first);
    until("events are taken", || ask(&own, "POST", "/api/streams/events", "{}").status == 200);
    let other = Served::start(sharing(directory.path()));
    assert_eq!(ask(&place_of(&other), "POST", "/api/streams/events", "{}").status, 503);
}

/// One that has the directory for itself is alone, whichever of the two comes first.
#[test]
fn sharing_takes_two() {
    type Start = fn(&Path) -> Command;
    for (one, two) in [(sharing as Start, command as Start), (command, sharing)] {
        let directory = directory(STREAM);
        let mut first = Served::start(one(directory.path()));
        let second = Waiting::start(two(directory.path()), first.child.id(), directory.path());
        assert_eq!(ask(&place_of(&first), "GET", "/health", "").status, 200);
        first.signal("-TERM");
        first.child.wait().expect("its end");
        let own = second.address();
        until("the second takes events", || ask(&own, "POST", "/api/streams/events", "{}").status == 200);
    }
}

/// An upgrade without a refused connection: the socket is systemd's, and what arrives between two servers waits.
#[test]
fn connections_to_a_socket_of_systemd_wait_for_the_second() {
    let directory = directory("");
    std::fs::write(directory.path().join("people.csv"), "id\n1\n").expect("a file");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address").to_string();
    let copy = listener.try_clone().expect("a copy");
    let variables = "LISTEN_PID=$$ LISTEN_FDS=1";
    let mut first = Served::start(activated(directory.path(), copy.into(), "systemd", variables));
    let second = activated(directory.path(), listener.into(), "systemd", variables);
    let second = Waiting::start(second, first.child.id(), directory.path());
    until("the first is ready", || ask(&address, "GET", "/ready", "").status == 200);
    let early = {
        first.signal("-TERM");
        first.child.wait().expect("its end");
        let address = address.clone();
        std::thread::spawn(move || ask(&address, "GET", "/api/tables/people", ""))
    };
    second.address();
    let answer = early.join().expect("an answer");
    assert_eq!((answer.status, answer.text()), (200, "[{\"id\":1}]"));
}
