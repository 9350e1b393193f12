//! A server that was started otherwise than those of other tests, with what it says and logs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long something may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; ends with the value.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) child: Child,
    /// What it says it listens on.
    pub(crate) place: String,
    log: Arc<Mutex<String>>,
}

impl Served {
    /// Starts a server, which must come to listen.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program is there");
        let log = Arc::new(Mutex::new(String::new()));
        let (own, stderr) = (Arc::clone(&log), BufReader::new(child.stderr.take().expect("its log")));
        let logging = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut log = own.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let place = lines.find_map(|line| line.ok()?.strip_prefix("listening on ").map(str::to_owned));
        let Some(place) = place else {
            let _ = child.wait();
            let _ = logging.join();
            panic!("it does not listen: {}", log.lock().unwrap());
        };
        // Read on, so that the server never waits for somebody to take its output.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, place, log }
    }

    /// Sends it a signal, by a word that `kill` knows.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// What it has logged so far.
    pub(crate) fn logged(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until it has logged a text.
    #[track_caller]
    pub(crate) fn until_logged(&self, text: &str) {
        until(&format!("`{text}` in the log"), || self.log.lock().unwrap().contains(text));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again until it is so; a test that waits in vain fails.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
