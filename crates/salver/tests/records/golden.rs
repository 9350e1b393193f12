//! The cases in `golden/`, most of them those of PHP-CRUD-API's own tests under their numbers, in their order: one
//! database of each kind sees them all, and the answers are compared byte for byte.
//!
//! A case ends at an empty line. `# ` is a remark, then stands the request; `> ` is a header of it, `| ` a line of its
//! body, `< ` a header the answer must have; `sqlite`, `mysql` or `pgsql` begin a line for that database only, which is
//! another answer or `skip:` with why. The last line is the answer: status and body.

use salver_testkit::servers::Kind;

use super::fixture;
use super::program::Program;

const FILES: [(&str, &str); 10] = [
    ("rows", include_str!("golden/rows.txt")),
    ("joins", include_str!("golden/joins.txt")),
    ("values", include_str!("golden/values.txt")),
    ("errors", include_str!("golden/errors.txt")),
    ("filters", include_str!("golden/filters.txt")),
    ("rules", include_str!("golden/rules.txt")),
    ("geometry", include_str!("golden/geometry.txt")),
    ("xml", include_str!("golden/xml.txt")),
    ("relations", include_str!("golden/relations.txt")),
    ("columns", include_str!("golden/columns.txt")),
];
/// More than these are not shown.
const SHOWN_MAX: usize = 30;

#[derive(Debug, Default)]
struct Case<'a> {
    line: usize,
    method: &'a str,
    target: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: Option<String>,
    wanted_headers: Vec<(&'a str, &'a str)>,
    wanted: &'a str,
    skipped: bool,
}

/// The cases of a file, as they are meant for a kind of database.
fn cases<'a>(name: &str, text: &'a str, kind: Kind) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    let mut case = Case::default();
    let mut own = None;
    for (at, line) in text.lines().chain([""]).enumerate() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first {
            "" => {
                if !case.method.is_empty() {
                    case.wanted = own.take().unwrap_or(case.wanted);
                    assert!(case.skipped || !case.wanted.is_empty(), "{name}.txt:{at}: a case without an answer");
                    cases.push(std::mem::take(&mut case));
                }
            }
            "#" => {}
            "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" => {
                (case.line, case.method, case.target) = (at + 1, first, rest);
            }
            ">" => case.headers.extend(rest.split_once(": ")),
            "<" => case.wanted_headers.extend(rest.split_once(": ")),
            "|" => match &mut case.body {
                Some(body) => *body = format!("{body}\n{rest}"),
                None => case.body = Some(rest.to_owned()),
            },
            "sqlite" | "mysql" | "pgsql" => {
                if first == fixture::word(kind) {
                    if rest.starts_with("skip: ") {
                        case.skipped = true;
                    } else {
                        own = Some(rest);
                    }
                }
            }
            status if status.len() == 3 && status.parse::<u16>().is_ok() => case.wanted = line,
            _ => panic!("{name}.txt:{}: what is this? {line}", at + 1),
        }
    }
    cases
}

/// Runs every case and says which went wrong.
fn run(kind: Kind) {
    let program = Program::over(fixture::blog(kind), "", &fixture::upstream());
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in FILES {
        for case in cases(name, text, kind).iter().filter(|case| !case.skipped) {
            count += 1;
            let answer = program.ask(case.method, case.target, &case.headers, case.body.as_deref());
            let mut said = format!("{} {}", answer.status, answer.body);
            let mut wanted_headers = case.wanted_headers.clone();
            if !wanted_headers.iter().any(|(name, _)| *name == "content-type") {
                wanted_headers.push(("content-type", "application/json; charset=utf-8"));
            }
            for (name, value) in wanted_headers {
                if answer.header(name) != Some(value) {
                    said = format!("{name}: {:?}, not {value}\n{said}", answer.header(name));
                }
            }
            if said != case.wanted {
                let Case { line, method, target, body, wanted, .. } = case;
                let body = body.as_deref().unwrap_or_default();
                wrong
                    .push(format!("{name}.txt:{line}: {method} {target} {body}\n  wanted {wanted}\n  got    {said}\n"));
            }
        }
    }
    let shown = wrong.iter().take(SHOWN_MAX).map(String::as_str).collect::<String>();
    assert!(wrong.is_empty(), "{kind:?}: {} of {count} cases went wrong\n{shown}", wrong.len());
}

#[test]
fn sqlite() {
    run(Kind::Sqlite);
}

#[test]
fn mariadb() {
    run(Kind::Mariadb);
}

#[test]
fn postgres() {
    run(Kind::Postgres);
}
