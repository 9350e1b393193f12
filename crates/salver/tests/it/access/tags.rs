//! Entity tags tell nothing of rows that are kept back.

use std::path::Path;
use std::process::Command;

use crate::client::Client;
use crate::it::served::until;
use crate::process::Process;

const START: &str = "pragma journal_mode = wal; create table posts (id integer primary key, title text, region text); \
                     insert into posts values (1, 'one', 'north'), (2, 'two', 'south');";

fn run(database: &Path, text: &str) {
    let ran = Command::new("sqlite3").arg(database).arg(text).output().expect("sqlite3");
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn tags_tell_nothing_of_what_is_kept_back() {
    let by_access = ("[[access]]\nentries = [\"*\"]\npermissions = [\"read\"]\nrows = \"region = 'north'\"\n", "");
    let by_rule = ("", "[[database.rule]]\ntables = [\"posts\"]\nrows = \"region = 'north'\"\n");
    for (before, behind) in [by_access, by_rule] {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("app.db");
        run(&path, START);
        let database = format!("[[database]]\nname = \"app\"\nurl = \"sqlite:{}\"\n", path.display());
        let settings = format!("{before}{database}{behind}");
        let process = Process::with(&settings, &[]);
        let ask = |target: &str, headers: &[(&str, &str)]| {
            Client::new(process.address()).send("GET", target, headers, None).expect("an answer")
        };
        let targets = ["/api/records/posts", "/api/records/posts?order=id", "/api/records/posts/1"];
        let tags = targets.map(|target| {
            let answer = ask(target, &[]);
            assert!(answer.status == 200 && !answer.body.contains("two"), "{target}: {answer:?}");
            (target, answer.header("etag").unwrap_or_else(|| panic!("{target}: {answer:?}")).to_owned())
        });
        run(&path, "update posts set title = 'other' where id = 2; insert into posts values (3, 'three', 'south')");
        for (target, tag) in &tags {
            assert_eq!(ask(target, &[("if-none-match", tag)]).status, 304, "{settings}: {target}");
        }
        run(&path, "update posts set title = 'first' where id = 1");
        for (target, tag) in &tags {
            until("what is there is told", || ask(target, &[("if-none-match", tag)]).status == 200);
        }
    }
}
