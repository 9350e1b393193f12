//! Wrong usage, help, completions, and manual pages.

use crate::Place;

#[test]
fn wrong_usage_is_2() {
    let place = Place::new();
    for arguments in [
        &[][..],
        &["sevre"],
        &["serve", "--lisen", "x"],
        &["query"],
        &["query", "select 1", "--format", "xml"],
        &["config"],
        &["completions", "csh"],
        &["query", "select 1", ".", "-o", "rows.xyz"],
    ] {
        let run = place.run(arguments);
        assert_eq!((run.code, run.text()), (Some(2), ""), "{arguments:?} {run:?}");
        assert!(!run.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn two_configurations_need_a_choice() {
    let place = Place::new();
    for directory in ["a", "b"] {
        std::fs::create_dir(place.path().join(directory)).unwrap();
        place.write(&format!("{directory}/salver.toml"), "");
    }
    let run = place.run(&["check", "a", "b"]);
    assert_eq!(run.code, Some(2));
    assert_eq!(
        run.err,
        "error: there are two configurations, `a/salver.toml` and `b/salver.toml`\n  \
         hint: say which to use with `--config FILE`\n"
    );
}

#[test]
fn nothing_to_serve_says_what_to_do() {
    let place = Place::new();
    let run = place.run(&["serve"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(
        run.err,
        "error: nothing to read: no argument, and no `salver.toml` here\n  \
         hint: name a directory or files, like `salver serve data/` or `salver serve cities=uk_cities.csv`\n"
    );
    let run = place.run(&["serve", "cache"]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with("error: no file in `cache` can be read as rows\n  hint: "), "{run:?}");
}

#[test]
fn help_names_every_command() {
    let place = Place::new();
    let help = place.run(&["--help"]);
    for command in
        ["serve", "query", "sql", "ingest", "export", "check", "config", "access", "key", "completions", "man"]
    {
        assert!(help.good().contains(&format!("\n  {command}")), "{command}");
        place.run(&[command, "--help"]).good();
    }
    assert_eq!(place.run(&["--version"]).good(), concat!("salver ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn completions_of_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(place.run(&["completions", shell]).good().contains("completions"), "{shell}");
    }
}

#[test]
fn manual_pages() {
    let place = Place::new();
    let page = place.run(&["man"]);
    assert!(page.good().contains(".TH salver 1"), "{page:?}");
    for part in ["salver \\- Serve data files", "salver\\-serve(1)", "Try: salver serve DIRECTORY"] {
        assert!(page.text().contains(part), "{part}: {page:?}");
    }
    std::fs::create_dir(place.path().join("man1")).unwrap();
    place.run(&["man", "man1"]).good();
    let written = std::fs::read_dir(place.path().join("man1")).unwrap();
    let mut pages: Vec<_> = written.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let commands = [
        "",
        "-access",
        "-access-explain",
        "-check",
        "-completions",
        "-config",
        "-config-example",
        "-config-show",
        "-export",
        "-ingest",
        "-key",
        "-key-new",
        "-key-password",
        "-man",
        "-query",
        "-serve",
        "-sql",
    ];
    let mut expected = commands.map(|command| format!("salver{command}.1"));
    expected.sort();
    assert_eq!(pages, expected);
    let serve = std::fs::read_to_string(place.path().join("man1/salver-serve.1")).unwrap();
    assert!(serve.contains("\\-\\-listen") && serve.contains("salver serve"), "{serve}");
    let nowhere = place.run(&["man", "nowhere"]);
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.err.starts_with("error: can't write the manual pages into `nowhere`: "), "{nowhere:?}");
    assert!(nowhere.err.contains("\n  hint: "), "{nowhere:?}");
}
