//! The commands that stand in a document, block by block, and what each must print. Runs nothing.

/// The commands that are run and compared.
const RUN: [&str; 2] = ["curl ", "salver "];
/// The commands that make the files of a block.
const MAKE: [&str; 2] = ["printf ", "mkdir "];

/// A command and what it must print.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Example {
    /// Where it stands in the document.
    pub(super) line: usize,
    pub(super) command: String,
    pub(super) printed: String,
}

impl Example {
    /// Whether it makes files for the commands after it.
    pub(super) fn makes_files(&self) -> bool {
        MAKE.iter().any(|start| self.command.starts_with(start))
    }

    fn is_run(&self) -> bool {
        RUN.iter().any(|start| self.command.starts_with(start))
    }
}

/// A `console` block.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The `toml` block before it under the same heading.
    pub(super) settings: String,
    pub(super) commands: Vec<Example>,
}

impl Block {
    /// Whether it brings its own files.
    pub(super) fn makes_files(&self) -> bool {
        self.commands.first().is_some_and(Example::makes_files)
    }
}

/// The blocks of a document.
pub(super) fn read(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut settings = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        if line.starts_with('#') {
            settings.clear();
        }
        let Some(kind) = line.strip_prefix("```") else { continue };
        let inside: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| !line.starts_with("```")).collect();
        match kind.trim_end() {
            "toml" => settings = inside.iter().map(|(_, line)| format!("{line}\n")).collect(),
            "console" => blocks.push(Block { settings: settings.clone(), commands: commands(&inside) }),
            _ => {}
        }
    }
    blocks
}

/// The commands of a block that are run.
fn commands(lines: &[(usize, &str)]) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut continued = false;
    for (at, line) in lines {
        if let Some(command) = line.strip_prefix("$ ").filter(|_| !continued) {
            examples.push(Example { line: at + 1, command: command.to_owned(), printed: String::new() });
            continued = command.ends_with('\\');
        } else if let Some(example) = examples.last_mut() {
            let part = if continued { &mut example.command } else { &mut example.printed };
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(line);
            continued = continued && line.ends_with('\\');
        }
    }
    for example in &mut examples {
        example.printed.truncate(example.printed.trim_end().len());
    }
    // Among files of its own a command may print nothing and still do something; elsewhere it is only for the reader.
    let has_files = examples.first().is_some_and(Example::makes_files);
    examples.retain(|e| if has_files { e.makes_files() || e.is_run() } else { e.is_run() && !e.printed.is_empty() });
    examples
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn commands_with_what_they_print() {
        let text = "a\n```console\n$ make demo\nx\n$ curl a \\\n  -d b\n1\n2\n\n$ curl c\n$ salver d\n3\n```\n\
            ```\n$ curl e\n4\n```\n";
        let blocks = read(text);
        assert_eq!(blocks.len(), 1);
        let found: Vec<(usize, &str, &str)> =
            blocks[0].commands.iter().map(|e| (e.line, e.command.as_str(), e.printed.as_str())).collect();
        assert_eq!(found, [(5, "curl a \\\n  -d b", "1\n2"), (11, "salver d", "3")]);
        assert!(!blocks[0].makes_files());
    }

    #[test]
    fn files_and_their_settings() {
        let text = "# A\n```toml\na = 1\n```\ntext\n```console\n$ printf 'x' > y\n$ salver z\n1\n```\n\
            ## B\n```console\n$ mkdir d\n$ salver z\n```\n";
        let blocks = read(text);
        assert_eq!(blocks.iter().map(|block| block.settings.as_str()).collect::<Vec<_>>(), ["a = 1\n", ""]);
        assert!(blocks.iter().all(|block| block.makes_files() && block.commands.len() == 2));
    }
}
