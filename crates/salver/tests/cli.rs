//! The real binary on the command line: every command, its output, its exit code.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

mod cli {
    mod check;
    mod key;
    mod prompt;
    mod query;
    mod serve;
    mod strangers;
    mod usage;
    mod workbook;
}

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A directory with a few files, and the binary run in it.
struct Place {
    directory: tempfile::TempDir,
}

/// What a run gave.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Run {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// The output of a run that went well.
    #[track_caller]
    fn good(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.text()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Place {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        place.write("people.csv", "id,name,age\n1,Ada,36\n2,Alan,41\n3,Grace,\n");
        place.write(
            "pets.ndjson",
            "{\"id\":10,\"owner\":1,\"kind\":\"cat\"}\n{\"id\":11,\"owner\":3,\"kind\":\"dog\"}\n",
        );
        std::fs::create_dir(place.path().join("cache")).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path().join(file), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.current_dir(self.path()).args(arguments).env("XDG_CACHE_HOME", self.path().join("cache"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SALVER_")) {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs with `input` on standard input.
    fn run_with(&self, arguments: &[&str], input: &str) -> Run {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// Directories that processes left behind.
    fn left_behind(&self) -> Vec<String> {
        let cache = self.path().join("cache/salver");
        let Ok(entries) = std::fs::read_dir(cache) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}
