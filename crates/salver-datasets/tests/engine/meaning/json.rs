//! Generated documents, and chains of operators and functions on them, here and in PostgreSQL: the same texts, and what
//! is refused there is refused here. Documents have keys that come twice, numbers of every form, escapes, and blanks.

use salver_testkit::servers::{self, Kind};

use super::World;
use super::expressions::{TRY, agree, told};
use super::generated::Dice;

const EXPRESSIONS: usize = 3_000;
const KEYS: [&str; 9] = ["a", "b", "a", "bb", "", "é", "0", "1", "a b"];
const SCALARS: [&str; 30] = [
    "1",
    "0",
    "-1",
    "10",
    "2",
    "1.0",
    "1.50",
    "-0",
    "-0.0",
    "1e3",
    "1E-2",
    "12.5e1",
    "0e2",
    "0.0e-2",
    "123456789012345678901",
    "true",
    "false",
    "null",
    "null",
    r#""""#,
    r#""a""#,
    r#""b""#,
    r#""1""#,
    r#""\u00e9""#,
    r#""é""#,
    r#""\"\\\/\n\t""#,
    r#""\ud83d\ude00""#,
    r#""\u0001""#,
    r#""x y""#,
    r#""10""#,
];
/// What is no JSON.
const WRONG: [&str; 12] =
    ["[1,]", "{a:1}", "01", "1.", ".5", "", "nul", "[1 2]", r#"{"a"}"#, r#"{"a":1,}"#, r#""\x""#, "a"];

struct Documents(Dice);

impl Documents {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[usize::try_from(self.0.below(of.len() as u64)).unwrap()]
    }

    fn document(&mut self, depth: usize) -> String {
        if depth == 0 || self.0.one_in(3) {
            return self.one(&SCALARS).to_owned();
        }
        let count = self.0.below(4);
        let (comma, colon, blank) =
            (self.one(&[",", ", ", " ,"]), self.one(&[":", ": ", " :"]), self.one(&["", "", " "]));
        if self.0.one_in(2) {
            let parts: Vec<String> = (0..count).map(|_| self.document(depth - 1)).collect();
            return format!("{blank}[{}{blank}]", parts.join(comma));
        }
        let parts = (0..count).map(|_| format!("\"{}\"{colon}{}", self.one(&KEYS), self.document(depth - 1)));
        let parts: Vec<String> = parts.collect();
        format!("{{{blank}{}}}{blank}", parts.join(comma))
    }

    /// A value of `jsonb` or `json`.
    fn value(&mut self, depth: usize, cast: &str) -> String {
        if depth == 0 {
            let document = if self.0.one_in(60) { self.one(&WRONG).to_owned() } else { self.document(3) };
            return format!("'{}'::{cast}", document.replace('\'', "''"));
        }
        if cast == "json" {
            return format!("({} {})", self.value(depth - 1, cast), self.step());
        }
        match self.0.below(13) {
            0..4 => format!("({} {})", self.value(depth - 1, cast), self.step()),
            4 => format!("({} || {})", self.value(depth - 1, cast), self.value(0, cast)),
            5 => format!("({} - {})", self.value(depth - 1, cast), self.left_out()),
            6 => format!("({} #- {})", self.value(depth - 1, cast), self.path()),
            7 => {
                let create = self.one(&["", ", true", ", false"]);
                format!("jsonb_set({}, {}, {}{create})", self.value(depth - 1, cast), self.path(), self.value(0, cast))
            }
            8 => {
                let behind = self.one(&["", ", true"]);
                let (own, path) = (self.value(depth - 1, cast), self.path());
                format!("jsonb_insert({own}, {path}, {}{behind})", self.value(0, cast))
            }
            9 => format!("jsonb_strip_nulls({})", self.value(depth - 1, cast)),
            10 => {
                let key = self.one(&["a", "b", "é"]);
                format!("jsonb_build_object('{key}', {}, 'a', 1.50)", self.value(depth - 1, cast))
            }
            11 => format!("jsonb_build_array({}, 'x', null)", self.value(depth - 1, cast)),
            _ => format!("coalesce({}, '[]')", self.value(depth - 1, cast)),
        }
    }

    fn step(&mut self) -> String {
        match self.0.below(3) {
            0 => format!("-> '{}'", self.one(&KEYS)),
            1 => format!("-> {}", self.one(&["0", "1", "-1", "2", "-3"])),
            _ => format!("#> {}", self.path()),
        }
    }

    fn left_out(&mut self) -> String {
        match self.0.below(3) {
            0 => format!("'{}'", self.one(&["a", "b", "é", "1"])),
            1 => self.one(&["0", "1", "-1", "5"]).to_owned(),
            _ => self.one(&["array['a','b']", "array['']", "array['bb',null]"]).to_owned(),
        }
    }

    fn path(&mut self) -> String {
        self.one(&[
            "'{a}'",
            "'{0}'",
            "'{a,0}'",
            "'{a,b}'",
            "'{-1}'",
            "'{0,a}'",
            "'{\"\"}'",
            "'{a b}'",
            "'{é}'",
            "'{5}'",
            "'{-9}'",
            "'{}'",
            "array['a','a']",
            "array['0','0']",
            "'{ 1}'",
        ])
        .to_owned()
    }

    /// An expression of any type.
    fn any(&mut self) -> String {
        let depth = [0, 1, 1, 2, 3][usize::try_from(self.0.below(5)).unwrap()];
        let value = |own: &mut Self, cast| own.value(depth, cast);
        match self.0.below(16) {
            0..3 => value(self, "jsonb"),
            3 => value(self, "json"),
            4 | 5 => format!("{} ->> '{}'", value(self, "jsonb"), self.one(&KEYS)),
            6 => format!("{} ->> {}", value(self, "json"), self.one(&["0", "-1", "'a'", "'0'"])),
            7 => format!("{} #>> {}", value(self, "jsonb"), self.path()),
            8 => {
                let operator = self.one(&["=", "<>", "<", "<=", ">", ">="]);
                format!("{} {operator} {}", value(self, "jsonb"), self.value(0, "jsonb"))
            }
            9 | 10 => {
                let operator = self.one(&["@>", "<@"]);
                format!("{} {operator} {}", value(self, "jsonb"), self.value(0, "jsonb"))
            }
            11 => format!("{} ? '{}'", value(self, "jsonb"), self.one(&KEYS)),
            12 => {
                let operator = self.one(&["?|", "?&"]);
                format!("{} {operator} {}", value(self, "jsonb"), self.one(&["array['a','b']", "'{é,1}'", "'{}'"]))
            }
            13 => format!(
                "{}({})",
                self.one(&["jsonb_typeof", "jsonb_array_length", "jsonb_pretty"]),
                value(self, "jsonb")
            ),
            14 => {
                let rows = self.one(&["elements", "elements_text"]);
                let of = format!("jsonb_array_{rows}({})", value(self, "jsonb"));
                format!("select string_agg(coalesce(value::text, 'N'), ';') from {of}")
            }
            _ => {
                let rows = self.one(&["each", "each_text"]);
                let of = format!("jsonb_{rows}({})", value(self, "jsonb"));
                format!("select string_agg(key || '=' || coalesce(value::text, 'N'), ';') from {of}")
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_have_the_same_texts() {
    let mut documents = Documents(Dice(11));
    let made: Vec<String> = (0..EXPRESSIONS).map(|_| documents.any()).collect();
    let postgres = servers::database(Kind::Postgres, TRY);
    let told = told(&postgres, &made);
    agree(&World::new(false), &made, &told, EXPRESSIONS / 2).await;
}
