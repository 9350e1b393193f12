//! Exports killed at random points by either side, and gone on with: each row comes exactly once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::rows::{Dice, has_each_once, lines};
use crate::process::Process;

const COUNT: i64 = 20_000;

/// How many exports are killed: `KILLED_EXPORTS`, or some.
fn exports() -> u64 {
    std::env::var("KILLED_EXPORTS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn settings() -> &'static str {
    "[server]\ndata_dir = \"data\"\n[[dataset]]\nname = \"a\"\nsource = \"a.ndjson\"\n[[stream]]\nname = \"events\"\n"
}

fn start(process: &Process, entry: &str, output: &Path) -> Child {
    let url = format!("http://{}/{entry}", process.address());
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["export", &url, "-o"]).arg(output).args(["--batch-rows", "300", "--streams", "3"]);
    if entry == "events" {
        command.args(["--columns", "id,word"]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program is there")
}

/// Sends events until it is told to end, each batch until it is acknowledged.
fn append(address: &str, from: &AtomicU64, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        let first = from.load(Ordering::Acquire) as i64;
        let mut client = crate::client::Client::new(address);
        // A few at a time, so that there are not many more in the end.
        std::thread::sleep(Duration::from_millis(50));
        let text = lines(first..first + 10);
        let id = format!("batch-{first}");
        let sent = client.send("POST", "/api/streams/events", &[("salver-id", &id)], Some(text.as_bytes()));
        match sent {
            Ok(answer) if answer.status == 200 => from.store(first as u64 + 10, Ordering::Release),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn the_command_gives_each_row_once() {
    let mut process = Process::with(settings(), &[("a.ndjson", &lines(0..COUNT))]);
    let sent = process.send("POST", "/api/streams/events", Some(&lines(0..COUNT)));
    assert_eq!(sent.status, 200, "{}", sent.body);
    let address = process.address().to_owned();
    let (from, is_over) = (AtomicU64::new(COUNT as u64), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| append(&address, &from, &is_over));
        // Whatever becomes of the test, the thread ends.
        let _over = EndOnDrop(&is_over);
        let folder = tempfile::tempdir().expect("a temporary directory");
        let mut kills = 0;
        for number in 0..exports() {
            kills += one_export(&mut process, folder.path(), number);
        }
        assert!(kills >= exports(), "{kills} kills in {} exports", exports());
    });
}

/// Exports until it is done, killing the client or the server in between; how often that was.
fn one_export(process: &mut Process, folder: &Path, number: u64) -> u64 {
    let mut dice = Dice::new(number + 1);
    let entry = if number.is_multiple_of(3) { "events" } else { "a" };
    let output = folder.join("rows.ndjson");
    let mut kills = 0;
    loop {
        let mut child = start(process, entry, &output);
        let wait = Duration::from_micros(dice.below(60_000));
        let strikes = kills < 4;
        if strikes {
            std::thread::sleep(wait);
            kills += 1;
            if dice.below(3) == 0 {
                // The client sees it through, if it can.
                process.restart();
            } else {
                let _ = child.kill();
            }
        }
        let code = child.wait().expect("it ends").code();
        if code == Some(0) {
            break;
        }
        assert!(strikes, "{entry} {number}: ended with {code:?} though nobody was killed");
    }
    let text = std::fs::read_to_string(&output).expect("the output");
    match entry {
        "a" => has_each_once(&text, COUNT as usize),
        _ => has_each_once(&text, text.lines().count().max(COUNT as usize)),
    }
    assert_eq!(std::fs::read_dir(folder).expect("the folder").count(), 1, "nothing lies beside the output");
    std::fs::remove_file(&output).expect("the output goes");
    kills
}

struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_body_that_broke_off_is_gone_on_with() {
    let mut process = Process::with(settings(), &[("a.ndjson", &lines(0..COUNT))]);
    let mut dice = Dice::new(99);
    for number in 0..exports() {
        let (mut body, mut tag) = (Vec::new(), String::new());
        let mut tries = 0;
        while !fetch(process.address(), &mut body, &mut tag, (tries < 5).then(|| dice.below(400_000))) {
            tries += 1;
            if dice.below(40) == 0 {
                process.restart();
            }
        }
        let text = String::from_utf8(body).unwrap_or_else(|error| panic!("{number}: {error}"));
        has_each_once(&text, COUNT as usize);
    }
}

/// Takes the rest of the body, but no more than `bytes_max`; whether it is whole then.
fn fetch(address: &str, body: &mut Vec<u8>, tag: &mut String, bytes_max: Option<u64>) -> bool {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    let range = match body.len() {
        0 => String::new(),
        length => format!("range: bytes={length}-\r\nif-range: {tag}\r\n"),
    };
    let head = format!("GET /api/export/a.ndjson HTTP/1.0\r\nhost: localhost\r\n{range}\r\n");
    stream.write_all(head.as_bytes()).expect("a server that reads");
    let mut answer = Vec::new();
    let _ = stream.take(bytes_max.unwrap_or(u64::MAX)).read_to_end(&mut answer);
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    if head.starts_with("HTTP/1.0 416") {
        return true;
    }
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    assert!(head.starts_with("HTTP/1.0 206") || body.is_empty(), "{head}");
    *tag = header("etag:").expect("a tag").to_owned();
    body.extend_from_slice(&answer[end + 4..]);
    match header("content-range:").and_then(|range| range.rsplit_once('/')) {
        Some((_, total)) => body.len() == total.parse::<usize>().expect("a length"),
        // Whether a body without a length is whole, the next range tells.
        None => false,
    }
}
