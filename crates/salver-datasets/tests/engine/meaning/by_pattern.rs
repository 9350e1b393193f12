//! Generated patterns of `to_char`, `to_timestamp` and `to_number`, here and in PostgreSQL: what one writes the other
//! writes, and what is read is the same time or number, or refused by both.

use salver_testkit::servers::{self, Kind};

use super::World;
use super::expressions::{TRY, agree, told};

const FIELDS: [&str; 54] = [
    "HH24", "HH12", "HH", "MI", "MS", "SSSSS", "SSSS", "SS", "US", "FF1", "FF3", "FF6", "A.M.", "P.M.", "AM", "PM",
    "am", "p.m.", "A.D.", "AD", "BC", "Y,YYY", "YYYY", "YYY", "YY", "Y", "IYYY", "IYY", "IY", "I", "IDDD", "IW", "ID",
    "DAY", "Day", "day", "DDD", "DD", "Dy", "D", "CC", "J", "Q", "WW", "W", "RM", "rm", "MONTH", "Month", "Mon", "MM",
    "TZH", "OF", "mon",
];
const BETWEEN: [&str; 12] = ["", "-", " ", "/", "th", "\"x\"", "\\\"", ":", "T", ".", ", ", "\"-\""];
const TIMES: [&str; 6] = [
    "2024-02-29 13:05:09.123456",
    "0001-01-01 00:00:00",
    "9999-12-31 23:59:59.999999",
    "2021-01-03 12:00:00",
    "1899-12-31 00:30:00",
    "2020-12-31 11:59:59.5",
];

const DIGITS: [&str; 8] = ["9", "9", "9", "0", ",", "G", "99", "00"];
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "12.5",
    "-12.345",
    "0.05",
    "-0.5",
    "1234567.891",
    "-999",
    "99.995",
    "1000",
    "-0.004",
    "123456",
    "7.7",
];

/// Numbers of a simple generator, so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn pattern(&mut self) -> String {
        let begin = [&[][..], &["YYYY", "MM"], &["YYYY", "MM", "DD"], &["HH24", "MI"], &["IYYY", "IW"]][self.below(5)];
        let rest = self.below(4) + usize::from(begin.is_empty());
        let fields: Vec<&str> = begin.iter().copied().chain((0..rest).map(|_| self.one(&FIELDS))).collect();
        fields.iter().map(|field| [self.one(&["", "", "", "FM"]), field, self.one(&BETWEEN)].concat()).collect()
    }

    /// A pattern of a number; with `reads` one that is only read.
    fn number_pattern(&mut self, reads: bool) -> String {
        let words: &[&str] = if reads { &["", "", "L", " ", "x", "$", "\"a\""] } else { &["", "", " ", "x", "\"a\""] };
        let mut pattern = self.one(&["", "", "FM"]).to_owned();
        let (first, last) =
            [("", ""), ("S", ""), ("", "S"), ("", "MI"), ("MI", ""), ("", "PR"), ("SG", ""), ("PL", "")][self.below(8)];
        pattern += first;
        pattern += self.one(words);
        // Without a digit, PostgreSQL finds numbers too long that are read here.
        pattern += self.one(&["9", "0"]);
        for _ in 0..=self.below(5) {
            pattern += self.one(&DIGITS);
        }
        if self.below(2) == 0 {
            pattern += self.one(&[".", "D"]);
            for _ in 0..self.below(4) {
                pattern += self.one(&["9", "0"]);
            }
        }
        pattern += self.one(if reads { &["", "", "th"] } else { &[""] });
        pattern + last
    }

    /// A text with a character more, fewer or another.
    fn damaged(&mut self, text: &str) -> String {
        let signs: Vec<char> = text.chars().collect();
        let at = self.below(signs.len() + 1);
        let more = self.one(&[" ", "", "-", "0", "9", "x", "  "]);
        let end = (at + self.below(2)).min(signs.len());
        signs[..at].iter().copied().chain(more.chars()).chain(signs[end..].iter().copied()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_write_and_read_the_same() {
    let mut random = Random(1);
    let made: Vec<(String, String)> = (0..1_200)
        .map(|_| {
            let pattern = random.pattern();
            (format!("to_char(timestamp '{}', '{pattern}')", random.one(&TIMES)), pattern)
        })
        .collect();
    let postgres = servers::database(Kind::Postgres, TRY);
    let written: Vec<String> = made.iter().map(|(own, _)| own.clone()).collect();
    let texts = told(&postgres, &written);
    let read: Vec<String> = texts
        .iter()
        .zip(&made)
        // Days that are told twice, by their number and by a date, are times of other years there.
        .filter(|(_, (_, pattern))| !pattern.contains('J'))
        .map(|(text, (_, pattern))| {
            let text = if random.below(3) == 0 { random.damaged(text) } else { text.clone() };
            format!("(to_timestamp('{text}', '{pattern}') at time zone 'UTC')")
        })
        .collect();
    let times = told(&postgres, &read);
    agree(&World::new(false), &[written, read].concat(), &[texts, times].concat(), 1_500).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_of_numbers_write_and_read_the_same() {
    let mut random = Random(2);
    let postgres = servers::database(Kind::Postgres, TRY);
    let written: Vec<(String, String)> = (0..1_000)
        .map(|_| {
            let pattern = random.number_pattern(false);
            (format!("to_char({}, '{pattern}')", random.one(&NUMBERS)), pattern)
        })
        .collect();
    let (written, patterns): (Vec<String>, Vec<String>) = written.into_iter().unzip();
    let texts = told(&postgres, &written);
    let of_texts = texts.iter().zip(&patterns).filter(|(text, _)| !text.starts_with("refused"));
    let read: Vec<(String, String)> = of_texts.map(|(text, pattern)| (text.clone(), pattern.clone())).collect();
    let others = (0..1_000).map(|_| {
        let number = random.one(&NUMBERS).to_owned();
        let text =
            [random.one(&["", "", " ", "$", "+", "<"]), &number, random.one(&["", "", "-", ">", "th", " "])].concat();
        (text, random.number_pattern(true))
    });
    let others: Vec<(String, String)> = others.collect();
    let read: Vec<String> = read
        .into_iter()
        .chain(others)
        .map(|(text, pattern)| {
            let text = if random.below(3) == 0 { random.damaged(&text) } else { text };
            format!("to_number('{text}', '{pattern}')::float8")
        })
        .collect();
    let numbers = told(&postgres, &read);
    agree(&World::new(false), &[written, read].concat(), &[texts, numbers].concat(), 1_500).await;
}
