//! Text that must not stand in the source, each with what to write instead.

use crate::tree::{File, Tree};

struct Ban {
    text: &'static str,
    /// Beginnings of paths where it may stand.
    allowed: &'static [&'static str],
    instead: &'static str,
}

// Split in two so that this file passes its own check.
const BANS: [Ban; 16] = [
    Ban { text: concat!("db", "g!("), allowed: &[], instead: "remove it, or emit an observation" },
    Ban { text: concat!("FIX", "ME"), allowed: &[], instead: "fix it, or open an issue and write `TODO(#12)`" },
    Ban {
        text: concat!("env", "::var"),
        // The host of R is a process of its own: its environment is how the server speaks to it. What processes get of
        // the server's environment is chosen by name, and never looked at.
        allowed: &[
            "crates/salver-config/",
            // Cargo tells a build script in variables where its files go.
            "crates/salver-console/build.rs",
            // Credentials of object stores stand where their own tools look.
            "crates/salver-datasets/src/buckets/environment.rs",
            "crates/salver-functions/src/host/environment.rs",
            "crates/salver-functions/src/process/environment.rs",
            "crates/salver/",
            "crates/salver-testkit/",
            "xtask/",
        ],
        instead: "make it a setting of salver-config",
    },
    Ban { text: concat!("process", "::exit("), allowed: &["crates/salver/"], instead: "return an error" },
    Ban { text: concat!("allow(clippy::all", ")"), allowed: &[], instead: "allow one lint, with its reason" },
    Ban {
        text: concat!("Response", "::new("),
        allowed: &["crates/salver-http/src/exit.rs", "crates/salver-testkit/"],
        instead: "have `exit` make it, which is the one place",
    },
    Ban {
        text: concat!("StatusCode::", "NOT_MODIFIED"),
        allowed: &["crates/salver-http/src/exit.rs"],
        instead: "have `exit` make it, which is the one place",
    },
    Ban {
        text: concat!("header::", "RETRY_AFTER"),
        allowed: &["crates/salver-http/src/exit.rs"],
        instead: "refuse the request, or call `exit::invite_retry`",
    },
    Ban {
        text: concat!("header::", "WWW_AUTHENTICATE"),
        allowed: &["crates/salver-http/src/auth.rs"],
        instead: "refuse the request: every 401 gets it on its way out",
    },
    Ban {
        text: concat!("Coding::", "negotiate("),
        allowed: &["crates/salver-http/src/request_context.rs", "crates/salver-formats/"],
        instead: "ask the request for its coding",
    },
    Ban {
        text: concat!(".sl", "ug()"),
        allowed: &[
            "crates/salver-http/src/dialect/",
            "crates/salver-http/src/graphql/failure.rs",
            "crates/salver-http/tests/",
            "crates/salver-model/",
            "crates/salver/",
        ],
        instead: "return the error: its dialect writes it",
    },
    Ban {
        text: concat!("use match", "it"),
        allowed: &["crates/salver-http/src/routes.rs"],
        instead: "add a row to the table of routes, which says where a request goes",
    },
    Ban {
        text: concat!("path = \"../", "src"),
        allowed: &[],
        instead: "test what is private beside it, in a module of tests",
    },
    Ban {
        text: concat!("146_", "097"),
        // The tests of the whole program reckon by themselves.
        allowed: &["crates/salver-text/src/calendar.rs", "crates/salver/tests/"],
        instead: "convert dates with `salver_text::calendar`, which is the one place",
    },
    Ban {
        text: concat!("wxyz0123456789", "+/"),
        allowed: &["crates/salver/tests/"],
        instead: "use `salver_text::base64`, or the crate `base64` for what it has not",
    },
    Ban {
        text: concat!("b'", "%'"),
        // A pattern of LIKE has it too.
        allowed: &["crates/salver-text/src/form.rs", "crates/salver-model/src/like.rs"],
        instead: "decode with `salver_text::percent` or `form`, or the crate `percent-encoding`",
    },
];

/// Checks every Rust file.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.with_suffix(".rs") {
        for (at, line) in file.text.lines().enumerate() {
            complaints.extend(judge(file, line).map(|why| format!("{}:{}: {why}", file.path, at + 1)));
        }
    }
    complaints
}

fn judge(file: &File, line: &str) -> Option<String> {
    let ban =
        BANS.iter().find(|ban| line.contains(ban.text) && !ban.allowed.iter().any(|at| file.path.starts_with(at)));
    if let Some(ban) = ban.filter(|ban| !(file.is_test() && ban.text.contains("::"))) {
        return Some(format!("`{}`: {}", ban.text, ban.instead));
    }
    let todo = line.find(concat!("TO", "DO")).map(|at| &line[at + 4..])?;
    let numbered = todo.strip_prefix("(#").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!numbered && !todo.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        .then(|| "a thing to do needs an issue: `(#12)` after the word".to_owned())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn words_and_where_they_may_stand() {
        let todo = concat!("TO", "DO");
        let cases: [(&str, String, usize); 12] = [
            ("crates/x/src/a.rs", format!("{}x)", concat!("db", "g!(")), 1),
            ("crates/x/src/a.rs", format!("// {}: later", concat!("FIX", "ME")), 1),
            ("crates/x/src/a.rs", format!("// {todo}: later"), 1),
            ("crates/x/src/a.rs", format!("// {todo}(#12): later"), 0),
            ("crates/x/src/a.rs", "let x = std::env::vars;".replace("vars", concat!("va", "r(\"A\")")), 1),
            ("crates/x/tests/a.rs", "let x = std::env::vars;".replace("vars", concat!("va", "r(\"A\")")), 0),
            ("crates/salver-config/src/a.rs", format!("{}(\"A\")", concat!("env", "::var")), 0),
            ("crates/x/src/a.rs", format!("std::{}1)", concat!("process", "::exit(")), 1),
            ("crates/x/src/a.rs", "let todos = 1;".to_owned(), 0),
            ("crates/salver-http/src/kv.rs", concat!("insert(header::", "RETRY_AFTER, soon)").to_owned(), 1),
            ("crates/salver-http/src/exit.rs", concat!("insert(header::", "RETRY_AFTER, soon)").to_owned(), 0),
            ("crates/salver-http/src/kv.rs", concat!("error.code.sl", "ug()").to_owned(), 1),
        ];
        for (path, text, complaints) in cases {
            assert_eq!(check(&Tree::of(&[(path, &text)])).len(), complaints, "{path}: {text}");
        }
    }
}
