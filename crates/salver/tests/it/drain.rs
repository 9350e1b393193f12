//! How a server ends: what is being sent goes out whole, over HTTP/1 and HTTP/2, and new requests get nowhere.

use std::fs::File;
use std::process::{Child, Command};

use super::served::{PATIENCE, Served, until};
use crate::client::Client;
use crate::process::Process;

/// Starts to take a large answer, slowly, into a file of the server's directory.
fn take(process: &Process, version: &str) -> Child {
    let into = File::create(process.directory().join(version)).expect("a file");
    Command::new("curl")
        .args(["-sS", "--max-time", "60", "--limit-rate", "2M", version])
        .arg(format!("http://{}/api/tables/long?format=csv", process.address()))
        .stdout(into)
        .spawn()
        .expect("curl")
}

#[test]
fn answers_go_out_whole() {
    let rows: String = (0..40_000).map(|n| format!("{n},{}\n", "x".repeat(100))).collect();
    let long = format!("id,text\n{rows}");
    let settings = format!("[limits]\ndrain_ms_max = \"{}s\"\n", PATIENCE.as_secs());
    let mut process = Process::with(&settings, &[("long.csv", long.as_str())]);
    let versions = ["--http1.1", "--http2-prior-knowledge"];
    let taking = versions.map(|version| take(&process, version));
    let begun = |version: &str| std::fs::metadata(process.directory().join(version)).is_ok_and(|file| file.len() > 0);
    until("both have begun", || versions.into_iter().all(begun));
    let sent = Command::new("kill").args(["-TERM", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    for (mut curl, version) in taking.into_iter().zip(versions) {
        assert!(curl.wait().expect("its end").success(), "{version}");
        let taken = std::fs::read_to_string(process.directory().join(version)).expect("the answer");
        assert!(taken == long, "{version}: {} bytes of {}", taken.len(), long.len());
    }
    until("it has ended", || !process.is_alive());
}

/// Nothing of the server's stays behind, whatever callers with rights of their own have read.
#[cfg(feature = "functions")]
#[test]
fn private_directories_are_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let temporary = tempfile::tempdir().expect("a directory");
    let key = "a-key-0123456789abcdef";
    let settings = format!(
        "[auth]\napi_keys = [\"one:{key}\"]\n[[role]]\nname = \"r\"\ncallers = [\"api_key:one\"]\n\
         [[access]]\nroles = [\"r\"]\nentries = [\"*\"]\npermissions = [\"read\", \"sql\"]\nrows = \"id < 9\"\n\
         [[access]]\nroles = [\"r\"]\nentries = [\"code\"]\npermissions = [\"call\"]\n\
         [[dataset]]\nname = \"people\"\nsource = \"people.csv\"\n[[function]]\nfile = \"code.py\"\n"
    );
    let files =
        [("people.csv", "id\n1\n"), ("code.py", "def one() -> int:\n    return 1\n"), ("salver.toml", &settings)];
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(directory.path().join("salver.toml"));
    command.env("TMPDIR", temporary.path());
    let mut served = Served::start(command);
    let address = served.place.trim_start_matches("http://").to_owned();
    let ask = |method: &str, target: &str, body: Option<&[u8]>| {
        Client::new(&address).send(method, target, &[("x-api-key", key)], body).expect("an answer")
    };
    let own = || {
        let entries = std::fs::read_dir(temporary.path()).expect("a directory").flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("salver-")).collect::<Vec<_>>()
    };
    until("the function is there", || ask("POST", "/api/functions/code/one", Some(b"{}")).status == 200);
    assert!(!own().is_empty(), "it has a directory of its own");
    for target in
        ["/api/tables/people", "/api/sql?q=select+count(*)+as+n+from+people", "/api/graphql?query={people{id}}"]
    {
        let answer = ask("GET", target, None);
        assert_eq!(answer.status, 200, "{target}: {answer:?}");
    }
    served.signal("-TERM");
    assert!(served.child.wait().expect("its end").success());
    assert_eq!(own(), Vec::<String>::new());
}
