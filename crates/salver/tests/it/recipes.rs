//! The recipes for clients in `docs/clients.md`, run as they stand: each program prints the text that follows it.

use std::process::Command;

use super::demo::demo;
use super::server::Server;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clients.md"));

/// A program of the page.
#[derive(Debug)]
struct Recipe {
    language: &'static str,
    program: String,
    prints: String,
}

/// Returns the programs of the page.
fn recipes() -> Vec<Recipe> {
    let mut blocks = PAGE.split("\n```").skip(1);
    let (mut found, mut last): (Vec<Recipe>, Option<(&'static str, &str)>) = (Vec::new(), None);
    // Blocks and the text between them take turns.
    while let (Some(block), between) = (blocks.next(), blocks.next()) {
        let (kind, text) = block.split_once('\n').unwrap_or((block, ""));
        let language = ["python", "r", "javascript"].into_iter().find(|language| *language == kind);
        if let Some(language) = language {
            last = Some((language, text));
        } else if let Some((language, program)) = last.take().filter(|_| kind == "text") {
            found.push(Recipe { language, program: program.to_owned(), prints: text.to_owned() });
        }
        assert!(last.is_none() || between.is_some_and(|between| between.trim().is_empty()), "{kind}: {last:?}");
    }
    assert!(last.is_none(), "nothing says what this prints: {last:?}");
    found
}

impl Recipe {
    /// The command that runs a program of its language.
    fn command(&self, program: &str) -> Command {
        let (name, arguments): (&str, &[&str]) = match self.language {
            "python" => ("python3", &["-c"]),
            "r" => ("Rscript", &["-e"]),
            _ => ("node", &["--input-type=module", "--eval"]),
        };
        let mut command = Command::new(name);
        command.args(arguments).arg(program);
        command
    }

    /// Whether its interpreter and the packages that it loads are there.
    #[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
    fn can_run(&self) -> bool {
        let loads = |line: &&str| ["import ", "from ", "library("].iter().any(|start| line.starts_with(start));
        let loads: Vec<&str> = self.program.lines().filter(loads).collect();
        let can = self.command(&loads.join("\n")).output().is_ok_and(|done| done.status.success());
        if !can {
            eprintln!("left out: what this recipe loads is not there: {} {loads:?}", self.language);
        }
        can
    }

    fn run(&self, server: &Server) {
        let program = self.program.replace("127.0.0.1:8080", server.address());
        let done = self.command(&program.replace("127.0.0.1:5433", server.postgres())).output().expect("it is there");
        let (said, failed) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert_eq!(said.trim_end(), self.prints.trim_end(), "{}\n{failed}", self.program);
    }
}

#[test]
fn recipes_print_what_they_say() {
    let recipes = recipes();
    assert!(["python", "r", "javascript"].iter().all(|language| recipes.iter().any(|own| own.language == *language)));
    let server = demo("\n[wire]\npostgres = \"127.0.0.1:0\"\n");
    recipes.iter().filter(|recipe| recipe.can_run()).for_each(|recipe| recipe.run(&server));
}
