//! Events of whole texts, compared with `serde_json`.

use salver_model::limits::{EVENT_BYTES_MAX, EVENT_DEPTH_MAX};
use salver_model::streams::Framing;
use serde_json::Value;

use super::{Checker, Checks, EventShape, Rule, SplitStep, Splitter};

mod framing;

/// Deterministic pseudo-random numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    pub(crate) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }

    /// White space, mostly none.
    fn blank(&mut self) -> &'static str {
        self.pick(&["", "", "", "", " ", "\n ", "\t", "\r\n  "])
    }

    pub(crate) fn string(&mut self) -> String {
        let parts =
            ["a", "b", "name", "é", "日本", "😀", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "{", "]", ","];
        let text: String = (0..self.roll(6)).map(|_| self.pick(&parts)).collect();
        format!("\"{text}\"")
    }

    pub(crate) fn value(&mut self, depth: usize) -> String {
        let numbers = [
            "0",
            "-0",
            "1",
            "-17",
            "123456789012345678",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "1.5",
            "-0.25e-3",
            "1E5",
            "1e+2",
            "123456789012345678901234567890",
        ];
        match self.roll(if depth > 3 { 6 } else { 8 }) {
            0 => "null".into(),
            1 => self.pick(&["true", "false"]).into(),
            2 | 3 => self.pick(&numbers).into(),
            4 | 5 => self.string(),
            6 => self.object(depth + 1),
            _ => {
                let elements: Vec<_> = (0..self.roll(4)).map(|_| self.value(depth + 1)).collect();
                format!("[{}{}]", self.blank(), elements.join(&format!("{},{}", self.blank(), self.blank())))
            }
        }
    }

    pub(crate) fn object(&mut self, depth: usize) -> String {
        let members: Vec<_> = (0..self.roll(5))
            .map(|_| {
                let name =
                    if self.roll(4) == 0 { self.string() } else { format!("\"{}\"", self.pick(&["a", "b", "c", "d"])) };
                format!("{name}{}:{}{}", self.blank(), self.blank(), self.value(depth))
            })
            .collect();
        format!("{{{}{}{}}}", self.blank(), members.join(&format!("{},{}", self.blank(), self.blank())), self.blank())
    }
}

fn checks() -> Checks {
    Checks::new(EventShape::default())
}

/// Events, and bad events with the reasons.
type Found = (Vec<Vec<u8>>, Vec<(Vec<u8>, String)>);

/// The events and the bad events of a text that comes in pieces with these ends.
fn split(text: &[u8], ends: &[usize], checks: &Checks) -> Found {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let (mut framing, mut at) = (Framing::Start, 0);
    for end in ends.iter().copied().chain([text.len()]) {
        let piece = &text[at..end];
        let is_last = end == text.len();
        let mut splitter = Splitter::new(piece, framing, is_last, checks);
        loop {
            match splitter.next_event() {
                SplitStep::Event(range) => good.push(piece[range].to_vec()),
                SplitStep::Bad(range, reason) => bad.push((piece[range].to_vec(), reason)),
                SplitStep::More => {
                    assert!(!is_last, "nothing more comes");
                    break;
                }
                SplitStep::Done => {
                    assert_eq!(splitter.consumed(), piece.len());
                    break;
                }
            }
        }
        (framing, at) = (splitter.framing(), at + splitter.consumed());
        if is_last {
            break;
        }
    }
    (good, bad)
}

fn texts(events: &[Vec<u8>]) -> Vec<&str> {
    events.iter().map(|event| std::str::from_utf8(event).expect("UTF-8")).collect()
}

/// Parses with `serde_json`, which refuses numbers beyond `f64`, unlike JSON.
fn is_object(text: &[u8]) -> Option<bool> {
    match serde_json::from_slice::<Value>(text) {
        Ok(value) => Some(value.is_object()),
        Err(error) if error.to_string().starts_with("number out of range") => None,
        Err(_) => Some(false),
    }
}

#[test]
fn framings() {
    let checks = checks();
    for (text, expected, bad) in [
        ("", &[][..], 0),
        (" \n", &[], 0),
        ("{}", &["{}"], 0),
        ("\u{feff} {\"a\":1}\r\n", &["{\"a\":1}"], 0),
        ("[]", &[], 0),
        (" [ ] ", &[], 0),
        ("[{},{\"a\":[{}]} ,\n{}]\n", &["{}", "{\"a\":[{}]}", "{}"], 0),
        ("{}{}\n{} \t{}", &["{}"; 4], 0),
        ("{\n \"a\": 1\n}\n{}", &["{\n \"a\": 1\n}", "{}"], 0),
        ("{}\n{\"a\":\n{}\n{}\n", &["{}", "{}", "{}"], 1),
        ("{}\n{\"a\":\"x\n{}\n", &["{}", "{}"], 1),
        ("{}\nnot json\n{}\n", &["{}", "{}"], 1),
        ("12:30 started\n{}\n", &["{}"], 1),
        ("1\n{}\n\"x\"{}\n[{}]\n{}", &["{}", "{}", "{}"], 3),
        ("{\n  \"a\": 1,\n  \"b\": x,\n  \"c\": {\n  }\n}\n{}", &["{}"], 1),
        ("[{},1,\"x\",null,[],{}]", &["{}", "{}"], 4),
        ("[{}{}]", &["{}"], 1),
        ("[{},]", &["{}"], 1),
        ("[,{}]", &[], 1),
        ("[{},{\"a\":01},{}]", &["{}"], 1),
        ("[{}", &["{}"], 1),
        ("[{},", &["{}"], 1),
        ("[", &[], 1),
        ("[{}] {}", &["{}"], 1),
        ("{}]", &["{}"], 1),
        ("{\"a\"", &[], 1),
        ("{},{}\n{}", &["{}", "{}"], 1),
    ] {
        let (good, found) = split(text.as_bytes(), &[], &checks);
        assert_eq!((texts(&good), found.len()), (expected.to_vec(), bad), "{text} {found:?}");
        for cut in 0..text.len() {
            let other = split(text.as_bytes(), &[cut], &checks);
            assert_eq!((&other.0, &other.1), (&good, &found), "{text} cut at {cut}");
        }
    }
}

#[test]
fn reasons_name_the_place() {
    let checks = checks();
    for (text, place) in [
        ("x", "at byte 0: expected a value"),
        ("  {\"a\" 1}", "at byte 5: expected `:`"),
        ("{a:1}", "at byte 1: expected a member's name"),
        ("{\"a\":1 \"b\"}", "at byte 7: expected `,` or `}`"),
        ("{\"a\":[1 2]}", "at byte 8: expected `,` or `]`"),
        ("{\"a\":tru}", "at byte 5: expected `true`"),
        ("{\"a\":-}", "at byte 6: expected a digit"),
        ("{\"a\":\"\t\"}", "at byte 6: expected no control character in a string"),
        ("{\"a\":\"\\x\"}", "at byte 7: expected one of `\"\\/bfnrtu`"),
        ("{\"a\":\"\\ud800\"}", "at byte 12: expected the second half of a surrogate pair"),
        ("{\"a\":\"\\udc00\"}", "at byte 6: expected the first half of a surrogate pair"),
        ("{\"a\":1", "the text ends within the event"),
        ("7", "at byte 0: expected an object"),
    ] {
        assert_eq!(split(text.as_bytes(), &[], &checks).1[0].1, place, "{text}");
    }
    let bytes = b"{\"a\":\"\xff\"}\n{}\n{\"b\":\"\xe9\"}{}";
    let (good, bad) = split(bytes, &[], &checks);
    assert_eq!(good.len(), 2);
    assert_eq!(bad.iter().map(|bad| bad.1.as_str()).collect::<Vec<_>>(), ["at byte 6: expected UTF-8"; 2]);
}

#[test]
fn limits() {
    let checks = checks();
    let deep = |levels: usize| format!("{}{{}}{}", "{\"a\":".repeat(levels - 1), "}".repeat(levels - 1));
    let text = format!("[{},{},{{}}]", deep(EVENT_DEPTH_MAX), deep(EVENT_DEPTH_MAX + 1));
    let (good, bad) = split(text.as_bytes(), &[], &checks);
    assert_eq!((good.len(), bad.len(), bad[0].0.len()), (2, 1, deep(EVENT_DEPTH_MAX + 1).len()));
    assert!(bad[0].1.contains("levels"), "{}", bad[0].1);
    split("[".repeat(1_000_000).as_bytes(), &[], &checks);
    // Searching for its end once per line would take minutes.
    let (good, bad) = split("{\"a\":[1,\n".repeat(20_000).as_bytes(), &[], &checks);
    assert_eq!((good.len(), bad.len()), (0, 20_000));

    let long = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    let text = format!("{}\n{}\n{{}}\n", long(EVENT_BYTES_MAX), long(EVENT_BYTES_MAX + 1));
    let (good, bad) = split(text.as_bytes(), &[EVENT_BYTES_MAX / 2, EVENT_BYTES_MAX * 3 / 2], &checks);
    assert_eq!((good.len(), bad.len(), good[1].as_slice()), (2, 1, &b"{}"[..]));

    // What can't be waited for is one bad event, and the next is an event again.
    let text = format!("{}\n{{}}\n", long(3 * EVENT_BYTES_MAX));
    let ends: Vec<_> = (1..40).map(|n| n * 100_000).filter(|end| *end < text.len()).collect();
    let (good, bad) = split(text.as_bytes(), &ends, &checks);
    assert_eq!(texts(&good), ["{}"]);
    assert_eq!(bad.iter().map(|bad| bad.0.len()).collect::<Vec<_>>(), [EVENT_BYTES_MAX]);
    assert!(bad[0].1.contains("what is kept of it is its beginning"), "{}", bad[0].1);
}

#[test]
fn agrees_with_serde_json_on_mutated_events() {
    let checks = checks();
    let mut dice = Dice(1);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..20_000 {
        let event = dice.object(0);
        let mut checker = Checker::new(&checks);
        assert_eq!(checker.check(event.as_bytes()), Ok(()), "{event}");
        for _ in 0..10 {
            let mut bytes = event.clone().into_bytes();
            let at = dice.roll(bytes.len());
            match dice.roll(4) {
                0 => bytes[at] = dice.roll(256) as u8,
                1 => bytes[at] = b"\"\\{}[]:,0123456789eE+-.tfnu \n"[dice.roll(29)],
                2 => _ = bytes.remove(at),
                _ => bytes.insert(at, b"\"\\{}[]:,0e-.t \n"[dice.roll(15)]),
            }
            let Some(expected) = is_object(&bytes) else { continue };
            let found = checker.check(&bytes);
            assert_eq!(found.is_ok(), expected, "{} {found:?}", String::from_utf8_lossy(&bytes));
            *if expected { &mut valid } else { &mut invalid } += 1;
        }
    }
    assert!(valid > 10_000 && invalid > 10_000, "{valid} {invalid}");
}

#[test]
fn any_text_in_any_pieces_gives_the_same() {
    let checks = checks();
    let mut dice = Dice(2);
    for round in 0..3_000 {
        let is_array = dice.roll(2) == 0;
        let events: Vec<_> = (0..1 + dice.roll(4)).map(|_| dice.object(1)).collect();
        let joint = if is_array { "," } else { dice.pick(&["\n", "\r\n", "", "  "]) };
        let mut text = events.join(joint).into_bytes();
        if is_array {
            text = [&b"["[..], &text, b"] "].concat();
        }
        let whole = split(&text, &[], &checks);
        assert_eq!((texts(&whole.0), whole.1.len()), (events.iter().map(String::as_str).collect(), 0));
        if round % 2 == 0 {
            let at = dice.roll(text.len());
            text[at] = b"\"\\{}[]:,0e-.t \n\xff"[dice.roll(16)];
        }
        let whole = split(&text, &[], &checks);
        for event in &whole.0 {
            assert_ne!(is_object(event), Some(false), "{}", String::from_utf8_lossy(event));
        }
        for end in 0..text.len() {
            let pieces = split(&text, &[end], &checks);
            assert_eq!(pieces, whole, "{} cut at {end}", String::from_utf8_lossy(&text));
        }
        let single: Vec<_> = (0..text.len()).collect();
        assert_eq!(split(&text, &single, &checks), whole, "{}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn a_rule_tells_the_place() {
    let schema = r#"{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}"#;
    let checks = Checks { rule: Some(Rule::compile(schema).expect("a schema")), ..checks() };
    let (good, bad) = split(b"{\"id\":1}\n{\"id\":\"x\",\"more\":1}\n{}\n", &[], &checks);
    assert_eq!(texts(&good), ["{\"id\":1}"]);
    assert_eq!(bad[0].1, "at `/id`: \"x\" is not of type \"integer\" (rule `/properties/id/type`)");
    assert_eq!(bad[1].1, "at `/`: \"id\" is a required property (rule `/required`)");
    assert_eq!(checks.shape.newest().schema().fields().len(), 1, "what is refused makes no columns");
    for bad in ["{", "{\"type\":7}", "{\"$ref\":\"http://127.0.0.1/x\"}"] {
        assert!(Rule::compile(bad).is_err(), "{bad}");
    }
}

/// Not a test but a measurement: `cargo test --release -p salver-streams --lib -- --ignored --nocapture speed`.
#[test]
#[ignore = "measures"]
fn speed_of_splitting() {
    let checks = checks();
    let event = r#"{"id":1234567,"user":"u-48213","kind":"click","ms":17,"ok":true}"#;
    assert_eq!(event.len(), 64);
    let spaced = r#"{"id": 123456, "user": "u-4821", "kind": "click", "ms": 1, "b": 1}"#;
    for (name, event) in [("64 bytes", event), ("with spaces", spaced)] {
        let text = format!("{event}\n").repeat(15_000);
        for _ in 0..3 {
            let start = std::time::Instant::now();
            let mut count = 0;
            for _ in 0..100 {
                let mut splitter = Splitter::new(text.as_bytes(), Framing::Start, true, &checks);
                while let SplitStep::Event(_) = splitter.next_event() {
                    count += 1;
                }
            }
            let rate = f64::from(count) / start.elapsed().as_secs_f64() / 1e6;
            assert_eq!(count, 1_500_000);
            tracing::info!("{name}: {rate:.2} M events/s");
            std::io::Write::write_all(&mut std::io::stderr(), format!("{name}: {rate:.2} M events/s\n").as_bytes())
                .expect("standard error");
        }
    }
}
