//! Tables of Delta Lake that the package `deltalake` writes, and what the server gives of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::installed::installed;
use super::server::Server;

/// What writes tables and compares them.
pub(crate) struct Writer(PathBuf);

impl Writer {
    /// The package, if it is installed.
    #[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
    pub(crate) fn found() -> Option<Self> {
        let python = installed("python/bin/python3")?;
        let is_there = Command::new(&python).args(["-c", "import deltalake, pyarrow"]).output();
        if !is_there.is_ok_and(|output| output.status.success()) {
            eprintln!("left out: `deltalake` is not there; `xtask/setup.sh test` installs it");
            return None;
        }
        Some(Self(python))
    }

    /// Runs a command of `tables.py`.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/delta/tables.py");
        let output = Command::new(&self.0).arg(script).args(arguments).output().expect("Python runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Compares an entry with a version of a table; returns the number of rows.
    #[track_caller]
    fn compare(&self, server: &Server, entry: &str, table: &Path, version: Option<&str>) -> String {
        let address = format!("http://{}/api/tables/{entry}.parquet?limit=1000000", server.address());
        let mut arguments = vec!["compare", table.to_str().expect("text"), &address];
        arguments.extend(version);
        self.run(&arguments)
    }
}

fn state(server: &Server, entry: &str) -> String {
    server.get("/ready").json()["entries"][entry]["state"].as_str().unwrap_or_default().to_owned()
}

/// Every type, partitions of every type, and columns that came later; in memory and scanned in place. What is found in
/// a directory is the same.
#[test]
fn what_another_reader_gives() {
    let Some(writer) = Writer::found() else { return };
    let lake = tempfile::tempdir().expect("a directory");
    let root = lake.path().to_str().expect("text");
    writer.run(&["make", root]);
    let mut toml = String::new();
    for table in ["types", "parts", "changed"] {
        for (name, more) in [("held", ""), ("scanned", "memory = \"never\"\n"), ("said", "format = \"delta\"\n")] {
            toml.push_str(&format!("[[dataset]]\nname = \"{table}_{name}\"\nsource = \"{root}/{table}\"\n{more}"));
        }
    }
    for version in 0..6 {
        let source = format!("{root}/changed?version={version}");
        toml.push_str(&format!("[[dataset]]\nname = \"v{version}\"\nsource = \"{source}\"\n"));
    }
    let server = Server::with(&toml, &[]);
    for (table, rows) in [("types", "20"), ("parts", "32"), ("changed", "1")] {
        for name in ["held", "scanned", "said"] {
            let entry = format!("{table}_{name}");
            assert_eq!(writer.compare(&server, &entry, &lake.path().join(table), None), rows, "{entry}");
        }
    }
    for (version, rows) in ["3", "4", "3", "4", "4", "1"].into_iter().enumerate() {
        let (entry, number) = (format!("v{version}"), version.to_string());
        assert_eq!(writer.compare(&server, &entry, &lake.path().join("changed"), Some(&number)), rows, "{entry}");
    }
    // Filters on partition columns, which stand between the others.
    for name in ["held", "scanned"] {
        let target = format!("/api/tables/parts_{name}?filter[text]=x%3Dy%2Fz&columns=id,text&sort=id&limit=2");
        assert_eq!(server.get(&target).text(), r#"[{"id":1,"text":"x=y/z"},{"id":9,"text":"x=y/z"}]"#, "{name}");
        let count = "select%20count(*)%20as%20n,sum(value)%20as%20s";
        let sql = format!("/api/sql?q={count}%20from%20parts_{name}%20where%20text%20is%20null%20and%20flag%3Dfalse");
        assert_eq!(server.get(&sql).text(), r#"[{"n":4,"s":34.0}]"#, "{name}");
    }
    let found = Server::prepared("", &[("beside.csv", b"a\n1\n")], |directory| {
        writer.run(&["make", directory.to_str().expect("text")]);
    });
    let entries =
        found.get("/ready").json()["entries"].as_object().expect("entries").keys().cloned().collect::<Vec<_>>();
    assert_eq!(entries, ["beside", "changed", "parts", "types"]);
    assert_eq!(writer.compare(&found, "parts", &found.file("parts"), None), "32");
}

/// Removes the files of a table.
fn remove_parquet(directory: &Path) {
    for entry in std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            remove_parquet(&entry);
        } else if entry.extension().is_some_and(|suffix| suffix == "parquet") {
            std::fs::remove_file(entry).expect("removed");
        }
    }
}

/// A commit is there without a restart, a version that is named stays, and what is gone does not take the rows away.
#[test]
fn a_table_changes() {
    let Some(writer) = Writer::found() else { return };
    let lake = tempfile::tempdir().expect("a directory");
    let root = lake.path().to_str().expect("text");
    writer.run(&["make", root]);
    let table = lake.path().join("changed");
    let path = table.to_str().expect("text");
    let toml = format!(
        "[[dataset]]\nname = \"latest\"\nsource = \"{path}\"\nrefresh = \"100ms\"\n\
         [[dataset]]\nname = \"scanned\"\nsource = \"{path}\"\nrefresh = \"100ms\"\nmemory = \"never\"\n\
         [[dataset]]\nname = \"old\"\nsource = \"{path}?version=2\"\nrefresh = \"100ms\"\n"
    );
    let server = Server::with(&toml, &[]);
    let count = |server: &Server, entry: &str| {
        server.get(&format!("/api/sql?q=select%20count(*)%20as%20n%20from%20{entry}")).json()[0]["n"].as_u64()
    };
    assert_eq!(["latest", "scanned", "old"].map(|entry| count(&server, entry)), [Some(1), Some(1), Some(3)]);
    writer.run(&["append", path]);
    server.until(|server| ["latest", "scanned"].iter().all(|entry| count(server, entry) == Some(2)));
    assert_eq!(writer.compare(&server, "latest", &table, None), "2");
    assert_eq!(count(&server, "old"), Some(3));

    let commit = table.join("_delta_log/00000000000000000007.json");
    std::fs::write(&commit, "{\"add\":\n").expect("written");
    server.until(|server| state(server, "latest") == "stale");
    assert_eq!(count(&server, "latest"), Some(2));
    let message = server.get("/ready").json()["entries"]["latest"]["message"].to_string();
    assert!(message.contains("00000000000000000007.json` is damaged: line 1"), "{message}");
    assert_eq!(state(&server, "old"), "ready");
    std::fs::remove_file(commit).expect("removed");
    server.until(|server| state(server, "latest") == "ready");

    // Files that are scanned in place, and are removed: their log says nothing of it.
    let toml =
        format!("[[dataset]]\nname = \"pinned\"\nsource = \"{root}/parts\"\nrefresh = \"100ms\"\nmemory = \"never\"\n");
    let server = Server::with(&toml, &[]);
    assert_eq!(count(&server, "pinned"), Some(32));
    remove_parquet(&lake.path().join("parts"));
    server.until(|server| server.get("/ready").json()["entries"]["pinned"]["message"].to_string().contains("is gone"));
}
