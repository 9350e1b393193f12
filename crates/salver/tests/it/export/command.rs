//! `salver export` with a real server: formats, columns, messages, exit codes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow::array::{ArrayRef, DurationMicrosecondArray, RecordBatch};
use arrow::ipc::writer::StreamWriter;
use salver_formats::Format;

use super::rows::{arrow_file, file, rows, stream, text};
use crate::it::server::Server;

const COUNT: i64 = 20_000;

/// What a run gave.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

fn server() -> Server {
    let toml = "[[dataset]]\nname = \"a\"\nsource = \"a.parquet\"\nmemory = \"never\"\n\
        [[dataset]]\nname = \"none\"\nsource = \"none.parquet\"\n";
    let empty = file(0..0, Format::Parquet);
    Server::with(toml, &[("a.parquet", &file(0..COUNT, Format::Parquet)), ("none.parquet", &empty)])
}

fn export(directory: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.arg("export").args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().expect("the program is there");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Run { code: output.status.code(), out: output.stdout, err }
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_format_in_any_number_of_streams() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/a", server.address());
    for format in ["ndjson", "csv", "tsv", "arrows", "arrow", "parquet", "xlsx"] {
        for streams in ["1", "3"] {
            let name = format!("{streams}.{format}");
            let run = export(folder.path(), &[&url, "-o", &name, "--streams", streams, "--batch-rows", "1700"]);
            assert_eq!(run.code, Some(0), "{name}: {run:?}");
            assert!(run.err.starts_with("20 000 rows of `a` in "), "{run:?}");
            let bytes = std::fs::read(folder.path().join(&name)).unwrap();
            match format {
                "arrows" => assert!(text(&stream(&bytes)) == text(&rows(0..COUNT))),
                "arrow" => assert!(text(&arrow_file(&bytes)) == text(&rows(0..COUNT))),
                "parquet" | "xlsx" => {
                    let sql = "select count(*) as n, sum(id) as s, count(name) as m from b";
                    let output = Command::new(env!("CARGO_BIN_EXE_salver"))
                        .args(["query", sql, &format!("b={name}"), "--format", "csv"])
                        .current_dir(folder.path())
                        .output()
                        .unwrap();
                    let text = String::from_utf8_lossy(&output.stdout).into_owned();
                    assert_eq!(text, "n,s,m\n20000,199990000,17143\n", "{output:?}");
                }
                _ => assert!(bytes == server.get(&format!("/api/export/a.{format}")).body, "{name}"),
            }
        }
    }
    assert!(names(folder.path()).iter().all(|name| !name.contains("salver-part")), "{:?}", names(folder.path()));
}

#[test]
fn columns_standard_output_and_no_rows() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", server.address());
    let run = export(folder.path(), &["a", "--url", &url, "--columns", "score,id", "--format", "csv"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out == server.get("/api/export/a.csv?columns=score,id").body);
    let run = export(folder.path(), &[&format!("{url}/api/export/a"), "--batch-rows", "999"]);
    assert!(run.code == Some(0) && run.out == server.get("/api/export/a").body);
    for format in ["ndjson", "csv", "parquet"] {
        let name = format!("none.{format}");
        let run = export(folder.path(), &["none", "--url", &url, "-o", &name]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let bytes = std::fs::read(folder.path().join(&name)).unwrap();
        match format {
            "parquet" => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
            _ => assert_eq!(bytes, server.get(&format!("/api/export/none.{format}")).body),
        }
    }
}

#[test]
fn what_goes_wrong_is_said() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", server.address());
    let check = |arguments: &[&str], code: i32, said: &str| {
        let run = export(folder.path(), arguments);
        assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
        assert!(run.err.contains(said), "{arguments:?}: {run:?}");
    };
    check(&["b", "--url", &url], 1, "no table `b`");
    check(&["a", "--url", &url, "--columns", "nam", "-o", "x.csv"], 1, "did you mean `name`?");
    check(&["a", "--url", &url, "-o", "x.xyz"], 2, "nothing is exported into files ending in `.xyz`");
    check(&["a", "--url", &url, "--streams", "65", "-o", "x.csv"], 2, "65");
    check(&["a", "--url", &url, "--streams", "2"], 2, "several streams need a file");
    check(&["http://127.0.0.1:1/"], 2, "names no entry");
    check(&["a", "--url", "localhost"], 2, "`localhost` is not the address of a server");
    check(&["http://127.0.0.1:1/a", "--patience", "0"], 1, "can't reach http://127.0.0.1:1");
    // What the format can't hold is said before everything is fetched, and nothing is left of the try.
    let spans: ArrayRef = Arc::new(DurationMicrosecondArray::from(vec![1, 2]));
    let table = RecordBatch::try_from_iter([("d", spans)]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &table.schema()).unwrap();
    writer.write(&table).unwrap();
    let spans = Server::of(&[("spans.arrows", &writer.into_inner().unwrap())]);
    let url = format!("http://{}", spans.address());
    check(&["spans", "--url", &url, "-o", "x.parquet"], 1, "Parquet has no type for column `d`");
    assert!(names(folder.path()).is_empty(), "{:?}", names(folder.path()));
}

#[test]
fn an_interrupted_run_goes_on_or_begins_anew() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let (url, expected) = (format!("http://{}/a", server.address()), server.get("/api/export/a.csv").body);
    let path = folder.path().join("a.csv");
    for (damage, more, arguments, said) in [
        (0, "", &[][..], "goes on behind 100 rows"),
        (0, "1,half a ro", &[], "goes on behind 100 rows"),
        (1, "", &[], "it is fetched anew"),
        (0, "", &["--restart"], ""),
        (0, "", &["--streams", "3"], "begins anew"),
        (0, "", &["--columns", "id,name,score"], "begins anew"),
    ] {
        // What a run leaves that was killed after some batches of one of two streams.
        let opened = server.post_json("/api/export", "{\"entry\":\"a\",\"streams\":2}").json();
        let first = server.get(&format!("{}?rows=100&format=csv", opened["streams"][0]["url"].as_str().unwrap()));
        let note = serde_json::json!({
            "about": { "url": format!("http://{}", server.address()), "entry": "a", "columns": null, "format": "csv" },
            "session": opened,
            "streams": [
                { "rows": 100, "bytes": first.body.len(), "crc32": crc32fast::hash(&first.body) ^ damage, "done": false },
                { "rows": 0, "bytes": 0, "crc32": 0, "done": false },
            ],
            "joined": [0, 0],
        });
        let part = [first.body.as_slice(), more.as_bytes()].concat();
        std::fs::write(folder.path().join("a.csv.salver-part.0"), part).unwrap();
        std::fs::write(folder.path().join("a.csv.salver-part"), note.to_string()).unwrap();
        let run = export(folder.path(), &[&[url.as_str(), "-o", "a.csv"], arguments].concat());
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
        assert!(run.err.contains(said), "{arguments:?}: {run:?}");
        assert!(std::fs::read(&path).unwrap() == expected, "{arguments:?}");
        assert_eq!(names(folder.path()), ["a.csv"]);
        std::fs::remove_file(&path).unwrap();
    }
}

/// A limit of the shell on files is an error that says so, and not an end by a signal without a word.
#[test]
fn a_limit_on_files() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.csv", "a.parquet", "-"] {
        let run = Command::new("sh")
            .args(["-c", "ulimit -f 8 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_salver"), "export"])
            .arg(format!("http://{}/a", server.address()))
            .args(if name == "-" { vec![] } else { vec!["-o", name] })
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(folder.path().join("out")).unwrap())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{name}: {err}");
        assert!(err.contains("error: can't write to") && err.contains("File too large"), "{name}: {err}");
    }
}
