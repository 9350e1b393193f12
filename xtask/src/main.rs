//! The project's own chores: `cargo xtask tidy | docs | examples | check`. Knows the layout of the workspace and
//! nothing of how Salver works.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks through its output")]

mod check;
mod docs;
mod examples;
mod tidy;
mod tree;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy      check what neither rustc, rustfmt nor clippy checks: layers, module cycles, sizes, names, links, docs
  docs      write the generated pages of docs/ again
  examples  run every example of README.md and docs/ against examples/demo, and compare what it prints
  check     everything that must pass: rustfmt, tidy, clippy, examples, tests";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let result = match command.as_str() {
        "tidy" => tree::Tree::read().and_then(|tree| tidy::run(&tree)),
        "docs" => tree::Tree::read().and_then(|tree| docs::write(&tree)),
        "examples" => tree::Tree::read().and_then(|tree| examples::run(&tree)),
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
