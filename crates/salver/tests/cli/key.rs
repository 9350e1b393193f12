//! `salver key new` and `salver key password`: what they print, where they write, and what they refuse.

use crate::Place;

#[test]
fn a_key_and_its_hash() {
    let place = Place::new();
    let told = place.run(&["key", "new", "reporting"]);
    let indented: Vec<&str> = told.good().lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let [key, line] = indented[..] else { panic!("{told:?}") };
    assert!(key.starts_with("slv_") && key.len() == 68, "{key}");
    let hash = line.strip_prefix("reporting:sha256:").unwrap();
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    assert_ne!(told.good(), place.run(&["key", "new", "reporting"]).good());
    for end in ["90d", "2100-01-31", "2100-01-31T12:00:00+01:00"] {
        let told = place.run(&["key", "new", "reporting", "--expires", end]);
        assert!(told.good().contains('@'), "{end}: {told:?}");
    }
}

#[test]
fn a_file_of_keys() {
    let place = Place::new();
    for name in ["ann", "ben"] {
        let told = place.run(&["key", "new", name, "--file", "keys.txt"]);
        assert!(told.good().contains("its hash was added to keys.txt"), "{told:?}");
        assert!(!told.good().contains("sha256"), "{told:?}");
    }
    let path = place.path().join("keys.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("ann:sha256:") && lines[1].starts_with("ben:sha256:"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // A last line without an end is not continued.
    std::fs::write(&path, "# ours").unwrap();
    place.run(&["key", "new", "zoe", "--file", "keys.txt"]).good();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# ours\nzoe:sha256:"), "{text}");
    place.write("people.csv", "id,name\n1,ann\n");
    for file in ["nowhere/keys.txt", "people.csv", "."] {
        let refused = place.run(&["key", "new", "zoe", "--file", file]);
        assert_eq!((refused.code, refused.text()), (Some(1), ""), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(place.path().join("people.csv")).unwrap(), "id,name\n1,ann\n");
}

#[test]
fn what_can_be_no_key() {
    let place = Place::new();
    for (arguments, expected) in [
        (&["key", "new", ""][..], "can't be the name of a key"),
        (&["key", "new", "a:b"], "can't be the name of a key"),
        (&["key", "new", "sha256"], "can't be the name of a key"),
        (&["key", "new", "#a"], "can't be the name of a key"),
        (&["key", "new", "a\nb"], "can't be the name of a key"),
        (&["key", "new", "a", "--expires", "tomorrow"], "`tomorrow` is not the expiry of a key"),
        (&["key", "new", "a", "--expires", "2001-01-01"], "would be of no use"),
        (&["key", "new", "a", "--expires", "0s"], "would be of no use"),
        (&["key", "new", "a", "--expires", "99999999d"], "would be of no use"),
    ] {
        let run = place.run(arguments);
        assert_eq!((run.code, run.text()), (Some(2), ""), "{arguments:?} {run:?}");
        assert!(run.err.contains(expected), "{run:?}");
    }
}

#[test]
fn a_password_and_its_verifier() {
    let place = Place::new();
    let told = place.run(&["key", "password", "ann"]);
    let indented: Vec<&str> = told.good().lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let [password, line] = indented[..] else { panic!("{told:?}") };
    assert!(password.len() == 64 && line.starts_with("ann:SCRAM-SHA-256$4096:"), "{told:?}");
    let dataset = "[[dataset]]\nname = \"a\"\nsource = \"a.csv\"\n";
    place.write("salver.toml", &format!("[auth]\nbasic_users = [\"{line}\"]\n{dataset}"));
    place.write("a.csv", "x\n1\n");
    place.run(&["check", "--config", "salver.toml"]).good();
    let told = place.run_with(&["key", "password", "ann", "--stdin"], "a password of mine\nand more");
    let verifier = told.good().trim_end().strip_prefix("ann:").and_then(salver_model::spec::ScramVerifier::parse);
    assert!(verifier.is_some_and(|own| own.fits("a password of mine")), "{told:?}");
    let refused = place.run(&["key", "password", "ann", "--stdin"]);
    assert!(
        refused.code == Some(2) && refused.err.contains("the first line of the standard input is empty"),
        "{refused:?}"
    );
}
