//! Everything that must pass, in the order in which it fails fastest. `make test` runs this and nothing else.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, iter};

use crate::{cache, examples, prose, site, tidy, tree};

/// Runs every step. The tests come last, so that the closing lines are theirs.
pub(crate) fn run() -> Result<(), String> {
    let (root, started) = (tree::root(), Instant::now());
    let path = path();
    let must = |args: &[&str]| {
        let status = cargo(&path).args(args).current_dir(&root).status();
        let status = status.map_err(|error| format!("can't run cargo: {error}"))?;
        if status.success() { Ok(()) } else { Err(format!("failed: cargo {}", args.join(" "))) }
    };
    step("rustfmt", || must(&["fmt", "--all", "--check"]))?;
    step("tidy", || tree::Tree::read().and_then(|tree| tidy::run(&tree)))?;
    // These two come from registries, which not every machine reaches.
    if cache::installed(prose::READER).is_some() {
        step("prose", || tree::Tree::read().and_then(|tree| prose::run(&tree)))?;
    } else {
        eprintln!("== prose: left out, Vale is not installed");
    }
    if cache::installed(site::GENERATOR).is_some() {
        step("site", || tree::Tree::read().and_then(|tree| site::run(&tree)))?;
    } else {
        eprintln!("== site: left out, Zensical is not installed");
    }
    // Installing it takes longer than all other steps before the tests, so it runs where it is.
    if cargo(&path).args(["deny", "--version"]).output().is_ok_and(|output| output.status.success()) {
        step("deny", || must(&["deny", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"]))?;
    }
    // In the release profile, so that build scripts and macros are compiled once for clippy and the tests together.
    step("clippy", || {
        must(&["clippy", "--release", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
    })?;
    // Nothing but types is looked at, so this costs little beside a build.
    step("no features", || {
        must(&["check", "--release", "--workspace", "--all-targets", "--no-default-features", "--quiet"])
    })?;
    step("build", || must(&["test", "--release", "--workspace", "--no-run", "--quiet"]))?;
    step("examples", || {
        must(&["build", "--release", "--workspace", "--bins", "--quiet"])?;
        tree::Tree::read().and_then(|tree| examples::run(&tree))
    })?;
    eprintln!("== tests, after {:.0} s", started.elapsed().as_secs_f64());
    tests(&root, &path)
}

/// Runs all tests: who mends one failure wants to know of the others. What failed is said once more at the end, where
/// a long log is read first.
fn tests(root: &Path, path: &OsString) -> Result<(), String> {
    let arguments = ["test", "--release", "--workspace", "--no-fail-fast"];
    let mut command = cargo(path);
    let mut child = command
        .args(arguments)
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("can't run cargo: {error}"))?;
    let (mut failed, mut telling) = (Vec::new(), false);
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.map_err(|error| format!("can't read what cargo prints: {error}"))?;
        println!("{line}");
        // libtest prints what failed between these two lines, first with its output and then by name alone.
        telling = (telling || line == "failures:") && !line.starts_with("test result:");
        if telling && !line.is_empty() {
            failed.push(line);
        }
    }
    let status = child.wait().map_err(|error| format!("can't wait for cargo: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("failed: cargo {}\n{}", arguments.join(" "), failed.join("\n")))
}

/// Cargo, without what the cargo that runs this program says of it to its own children: build scripts that watch those
/// variables (`ring`'s does) would be run again, and all above them compiled, each time a developer calls cargo between
/// two checks.
fn cargo(path: &OsString) -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.env("PATH", path);
    command
}

/// The search path, with the Python before all others that has the packages whose tables functions take and give;
/// `setup.sh` puts it there.
fn path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let python = cache::installed("python/bin/python3").and_then(|python| python.parent().map(PathBuf::from));
    let Some(python) = python else { return path };
    env::join_paths(iter::once(python).chain(env::split_paths(&path))).unwrap_or(path)
}

fn step(name: &str, work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    eprintln!("== {name}");
    let started = Instant::now();
    let result = work();
    eprintln!("== {name}: {:.1} s", started.elapsed().as_secs_f64());
    result
}
