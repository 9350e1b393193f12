//! A data directory that a build from before the file `format` left behind: its events are read, and more come behind
//! them.

use std::path::Path;

use crate::process::Process;

const STREAM: &str = "[[stream]]\nname = \"clicks\"\nid = \"$.id\"\n";

/// What it wrote: a log of three events, the place of one group, the shape of the events, the key of tokens.
const FILES: [(&str, &[u8]); 4] = [
    ("streams/clicks/00000000000000000000.log", include_bytes!("older/events.frames")),
    ("streams/clicks/groups.json", include_bytes!("older/groups.json")),
    ("streams/clicks/shape.json", include_bytes!("older/shape.json")),
    ("tokens.key", include_bytes!("older/tokens.key")),
];

fn settings(data_dir: &Path) -> String {
    format!("[server]\ndata_dir = \"{}\"\n{STREAM}", data_dir.display())
}

fn write(data_dir: &Path) {
    for (name, content) in FILES {
        let path = data_dir.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }
}

#[test]
fn what_an_older_build_wrote_is_read_and_continued() {
    let place = tempfile::tempdir().expect("a directory");
    write(place.path());
    let mut process = Process::start(&settings(place.path()));
    let marked = std::fs::read_to_string(place.path().join("format")).expect("the format");
    assert!(marked.starts_with("salver-data 1\nwritten by salver "), "{marked}");
    assert_eq!(std::fs::read(place.path().join("tokens.key")).expect("the key"), FILES[3].1);
    for round in 0..2 {
        let rows = process.sql("SELECT id, n FROM clicks ORDER BY _offset");
        let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(ids, ["e1", "e2", "e3", "e4"][..3 + round], "{rows:?}");
        let group = process.send("GET", "/api/streams/clicks/groups/mailer", None).json();
        assert_eq!(group["offset"], 2, "{group}");
        if round == 0 {
            let taken = process.send("POST", "/api/streams/clicks", Some("{\"id\":\"e4\",\"n\":4}")).json();
            assert_eq!(taken["first_offset"], 3, "{taken}");
            process.restart();
        }
    }
    assert_eq!(std::fs::read_to_string(place.path().join("format")).expect("the format"), marked);
}
