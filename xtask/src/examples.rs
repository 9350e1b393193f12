//! The examples in the documents, run as they stand: a `console` block's `$ curl ...` and `$ salver ...` lines against
//! the server of the demo, and what they print compared with the lines below them.
//!
//! `...` in an expected line stands for any text, and a line of it alone for any lines. A command without expected
//! lines is shown for the reader and not run. A block that begins by making files (`$ printf ...`, `$ mkdir ...`) runs
//! whole, in an empty folder of its own, with the `toml` block before it under the same heading as its `salver.toml`.
//! In such a block, `$ salver serve ... &` starts a server of its own, which the commands after it ask.

mod document;
mod places;

use crate::tree::Tree;
use document::Block;
use places::{Background, Folder, Server};

/// Runs every example of the documents.
pub(crate) fn run(tree: &Tree) -> Result<(), String> {
    let server = Server::start(&tree.root)?;
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in tree.with_suffix(".md") {
        for block in document::read(&file.text) {
            count += block.commands.iter().filter(|command| !command.printed.is_empty()).count();
            let complaints = complaints(&block, &server)?;
            wrong.extend(complaints.into_iter().map(|(line, complaint)| format!("{}:{line}: {complaint}", file.path)));
        }
    }
    if !wrong.is_empty() {
        return Err(format!("{}\n\nexamples: {} of {count} are wrong", wrong.join("\n\n"), wrong.len()));
    }
    println!("examples: all {count} print what they say");
    Ok(())
}

/// What is wrong with a block, by line.
fn complaints(block: &Block, server: &Server) -> Result<Vec<(usize, String)>, String> {
    let own = if block.makes_files() { Some(Folder::with_settings(&block.settings)?) } else { None };
    let folder = own.as_ref().map_or(server.folder(), Folder::path);
    let mut wrong = Vec::new();
    let mut background: Option<Background> = None;
    for example in &block.commands {
        let printed = match Background::command(&example.command).filter(|_| own.is_some()) {
            Some(command) => {
                let started = background.insert(server.serve(command, folder)?);
                started.printed(|printed| matches(&example.printed, printed))
            }
            None => server.run(&example.command, folder, background.as_ref())?,
        };
        if !matches(&example.printed, &printed) {
            let (command, expected, printed) = (&example.command, &example.printed, printed.trim_end());
            wrong.push((example.line, format!("`{command}` should print\n{expected}\nbut prints\n{printed}")));
        }
    }
    Ok(wrong)
}

/// Whether `printed` is what `expected` says.
fn matches(expected: &str, printed: &str) -> bool {
    let mut rest = printed.trim_end();
    let mut parts = expected.split("...");
    let Some(tail) = parts.next().and_then(|first| rest.strip_prefix(first)) else { return false };
    rest = tail;
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards() {
        assert!(matches("a\nb", "a\nb\n"));
        assert!(matches("a...c", "abbbc"));
        assert!(matches("a\n...\nz", "a\nb\nc\nz"));
        assert!(matches("etag: \"...\"\nx...", "etag: \"12\"\nxyz"));
        assert!(matches("", "\n"));
        for (expected, printed) in [("a", "ab"), ("a...c", "abd"), ("a...b...c", "a-c"), ("b", "a"), ("", "a")] {
            assert!(!matches(expected, printed), "{expected} {printed}");
        }
    }
}
