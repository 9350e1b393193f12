//! Event boundaries, independent of the pieces: texts around every limit, in pieces of every size, compared with a
//! plain parser. The limit of an event is small here, so that every cut can be tried.

use serde_json::Value;

use super::{Dice, checks, split, texts};
use crate::event::Checks;

/// Largest size of an event in these tests, in bytes.
const BYTES_MAX: usize = 48;

fn narrow() -> Checks {
    Checks { event_bytes_max: BYTES_MAX, ..checks() }
}

/// Layout of events in a text.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Array,
    Lines,
    Apart,
}

/// Returns a value of about this size: a compact object, one on several lines, or another value.
fn value(dice: &mut Dice, bytes: usize, layout: Layout) -> String {
    let filler = |length: usize| "x{[\\\"}],".chars().cycle().take(length).collect::<String>();
    match dice.roll(10) {
        0 => dice.object(0),
        1 => {
            let object = dice.object(0);
            let pretty = serde_json::from_str::<Value>(&object).ok();
            pretty.and_then(|value| serde_json::to_string_pretty(&value).ok()).unwrap_or(object)
        }
        2 => format!("{{\n\"rows\":[\n{}{{\"n\":1}}\n]}}", "{\"n\":0},\n".repeat(bytes / 9)),
        // Half a surrogate pair, which the grammar allows.
        7 => format!(
            "{{\"a\":\"{}\",\"b\":\n{{\"n\":1}}}}",
            dice.pick(&[r"\ud800", r"\udc00x", r"\ud800\u0041", r"\ud83d\n"])
        ),
        8 if !matches!(layout, Layout::Array) => {
            dice.pick(&["7", "-0.5e3", "true", "null", "\"y\"", r#""\ud800""#]).to_owned()
        }
        3 if matches!(layout, Layout::Array) => format!("[{}1]", "1,".repeat(bytes / 2)),
        4 if matches!(layout, Layout::Array) => format!("\"{}\"", "y".repeat(bytes)),
        5 if matches!(layout, Layout::Array) => "7".repeat(bytes.max(1)),
        // An escape that is cut in two by the filler's end would be no text.
        6 => format!("{{\"a\":{}}}", Value::from(filler(bytes))),
        _ => format!("{{\"a\":\"{}\"}}", "z".repeat(bytes.saturating_sub(8))),
    }
}

/// Checks that the events and bad events do not depend on where the text is cut.
fn same_in_pieces(text: &[u8], checks: &Checks) -> super::Found {
    let whole = split(text, &[], checks);
    for end in 0..text.len() {
        assert_eq!(split(text, &[end], checks), whole, "{:?} cut at {end}", String::from_utf8_lossy(text));
    }
    for size in 1..text.len() {
        let ends: Vec<_> = (1..).map(|n| n * size).take_while(|end| *end < text.len()).collect();
        assert_eq!(split(text, &ends, checks), whole, "{:?} by {size}", String::from_utf8_lossy(text));
    }
    whole
}

#[test]
fn values_around_the_bound_are_what_a_plain_parser_finds() {
    let checks = narrow();
    let mut dice = Dice(3);
    for round in 0..600 {
        let layout = [Layout::Array, Layout::Lines, Layout::Apart][round % 3];
        let values: Vec<_> = (0..1 + dice.roll(5))
            .map(|_| {
                let bytes = [0, 9, BYTES_MAX - 1, BYTES_MAX, BYTES_MAX + 1, BYTES_MAX * 2, BYTES_MAX * 5][dice.roll(7)];
                value(&mut dice, bytes, layout)
            })
            .collect();
        let joint = match layout {
            Layout::Array => dice.pick(&[",", " ,\n", ",\r\n  "]),
            Layout::Lines => "\n",
            Layout::Apart if values.iter().all(|value| value.starts_with('{')) => dice.pick(&["", " ", "\n\n\t"]),
            Layout::Apart => dice.pick(&[" ", "\t ", "\n\n\t"]),
        };
        let text = match layout {
            Layout::Array => format!("{}[{}]\n", dice.pick(&["", " ", "\u{feff}"]), values.join(joint)),
            _ => values.join(joint),
        };
        let (good, bad) = same_in_pieces(text.as_bytes(), &checks);
        // The JSON values of the text; each is an event when it is an object of Unicode text and not too long.
        let (expected, refused): (Vec<_>, Vec<_>) = values.iter().map(String::as_str).partition(|value| {
            value.starts_with('{') && value.len() <= BYTES_MAX && serde_json::from_str::<Value>(value).is_ok()
        });
        assert_eq!(texts(&good), expected, "{text}");
        let kept = refused.iter().map(|value| value.as_bytes()[..value.len().min(BYTES_MAX)].trim_ascii_end());
        assert_eq!(bad.iter().map(|(text, _)| &text[..]).collect::<Vec<_>>(), kept.collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn damaged_texts_are_the_same_in_any_pieces() {
    let checks = narrow();
    let mut dice = Dice(5);
    for round in 0..1_500 {
        let is_array = round % 2 == 0;
        let layout = if is_array { Layout::Array } else { Layout::Lines };
        let values: Vec<_> = (0..1 + dice.roll(4))
            .map(|_| {
                let bytes = dice.roll(BYTES_MAX * 2);
                value(&mut dice, bytes, layout)
            })
            .collect();
        let mut text = values.join(if is_array { "," } else { "\n" }).into_bytes();
        if is_array {
            text = [&b"["[..], &text, b"]"].concat();
        }
        for _ in 0..1 + dice.roll(3) {
            let at = dice.roll(text.len());
            match dice.roll(4) {
                0 => text.truncate(at + 1),
                1 => _ = text.remove(at.min(text.len() - 1)),
                2 => text.insert(at, b"\"\\{}[]:,0e-.t \n\xff"[dice.roll(16)]),
                _ => text[at] = b"\"\\{}[]:,0e-.t \n\xff"[dice.roll(16)],
            }
            if text.is_empty() {
                text.push(b' ');
            }
        }
        let (good, _) = same_in_pieces(&text, &checks);
        for event in &good {
            assert_ne!(super::is_object(event), Some(false), "{}", String::from_utf8_lossy(event));
        }
    }
}

/// The line behind one that was cut off is an event again, however long the cut one is and wherever the cut is.
#[test]
fn a_line_that_was_cut_off_takes_no_other_along() {
    let checks = narrow();
    let long = format!("{{\"a\":{{\"b\":[1,\"{}\",{{\"c\":null}}]}},\"d\":\"e\"}}", "x".repeat(BYTES_MAX * 2));
    for cut in 1..long.len() {
        let text = format!("{}\n{{\"n\":1}}\n{{\"n\":2}}\n{{\"n\":3}}\n", &long[..cut]);
        let (good, bad) = same_in_pieces(text.as_bytes(), &checks);
        let good = texts(&good);
        assert_eq!((good.last(), bad.len()), (Some(&"{\"n\":3}"), 1), "{text}");
        // What begins where a value of the cut one may stand can't be told from such a value.
        assert!(good.len() >= 2, "{text}: {good:?}");
    }
}

#[test]
fn deep_values_in_pieces() {
    let checks = narrow();
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let short = Checks { event_bytes_max: 1_000, ..super::checks() };
    for (checks, levels) in [(&checks, 20), (&checks, 200), (&short, 70), (&short, 499), (&short, 500), (&short, 501)] {
        let text = format!("[{{\"a\":{}}},{{}}]", deep(levels));
        let (good, bad) = same_in_pieces(text.as_bytes(), checks);
        assert_eq!((texts(&good).last(), good.len() + bad.len()), (Some(&"{}"), 2), "{levels}");
    }
}
