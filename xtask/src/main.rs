//! The project's own chores: `cargo xtask tidy | docs | examples | prose | site | check`. Knows the layout of the
//! workspace and nothing of how Salver works.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks through its output")]

mod cache;
mod check;
mod docs;
mod examples;
mod prose;
mod site;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy      check what neither rustc, rustfmt nor clippy checks: layers, module cycles, sizes, names, links, docs
  docs      write the generated pages of docs/ again
  examples  run every example of README.md and docs/ against examples/demo, and compare what it prints
  prose     read the English of README.md and docs/
  site      build the documentation as a site, in .site/html
  check     everything that must pass: rustfmt, tidy, prose, site, clippy, examples, tests";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let result = match command.as_str() {
        "tidy" => tree::Tree::read().and_then(|tree| tidy::run(&tree)),
        "docs" => tree::Tree::read().and_then(|tree| docs::write(&tree)),
        "examples" => tree::Tree::read().and_then(|tree| examples::run(&tree)),
        "prose" => tree::Tree::read().and_then(|tree| prose::run(&tree)),
        "site" => tree::Tree::read().and_then(|tree| site::run(&tree)),
        "check" => check::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
