//! What is committed is what the sources build, where npm is there and its registry can be reached.

// Tests may panic.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a directory by their paths in it, but for those that are installed.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut directories) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if path.is_dir() && !name.ends_with("node_modules") {
                directories.push(path);
            } else if path.is_file() {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn the_sources_build_what_is_committed() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files(&own.join("web")) {
        let path = directory.path().join("web").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let npm = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(directory.path().join("web")).output()
    };
    let installed = npm(&["ci", "--silent", "--no-audit", "--no-fund", "--prefer-offline"]);
    if !installed.is_ok_and(|done| done.status.success()) {
        // Without npm or its registry, what is committed is not compared.
        return;
    }
    for script in [&["run", "check"][..], &["test"], &["run", "build"]] {
        let done = npm(script).unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{script:?}: {said}");
    }
    let (built, committed) = (files(&directory.path().join("assets")), files(&own.join("assets")));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&built), names(&committed), "run `npm run build` in crates/salver-console/web");
    for (name, bytes) in &built {
        assert!(committed[name] == *bytes, "{}: run `npm run build` in crates/salver-console/web", name.display());
    }
}
