//! Ten thousand malformed bodies: each gets a clear answer, the good events beside the bad ones are kept, the bad ones
//! are kept aside, and the server serves on.

use std::collections::HashSet;

use super::doors::Doors;

const BODIES: usize = 10_000;

/// Numbers that look random and are the same each time (G. Marsaglia, "Xorshift RNGs", 2003).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// What is good until something is done to it.
const SEEDS: [&str; 6] = [
    r#"{"a":1,"b":[1,2,{"c":null}],"d":"text"}"#,
    r#"{"nested":{"deep":{"deeper":[true,false]}},"n":-1.5e3}"#,
    r#"{"text":"with \"quotes\" and \u00e9 and \\"}"#,
    r#"[{"a":1},{"b":2}]"#,
    r#"{"ünï":"cödé","emoji":"😀"}"#,
    r#"{"":{},"x":[]}"#,
];

/// One line that is not JSON.
fn malformed(dice: &mut Dice) -> Vec<u8> {
    loop {
        let mut line = SEEDS[dice.roll(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..=dice.roll(3) {
            let at = dice.roll(line.len());
            match dice.roll(7) {
                0 => line.truncate(at),
                1 => drop(line.remove(at)),
                2 => line[at] = dice.roll(256) as u8,
                3 => line.insert(at, b"{}[],:\"\\0x\x00\xff"[dice.roll(12)]),
                4 => line.extend_from_within(..at),
                5 => line = vec![b'['; 1 + dice.roll(5_000)],
                _ => line.splice(0..0, b"not json ".iter().copied()).for_each(drop),
            }
            if line.is_empty() {
                line.push(b'?');
            }
        }
        line.retain(|byte| !matches!(byte, b'\n' | b'\r'));
        if !line.trim_ascii().is_empty() && serde_json::from_slice::<serde_json::Value>(&line).is_err() {
            return line;
        }
    }
}

#[test]
fn ten_thousand_malformed_bodies() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\n");
    let mut dice = Dice(0x5A17_E200_0000_0001);
    let (mut good, mut quarantined, mut taken) = (0, 0, 0);
    for round in 0..BODIES {
        let bad = malformed(&mut dice);
        let around = round % 2 == 0;
        let mut body = Vec::new();
        if around {
            body.extend_from_slice(format!("{{\"good\":{good}}}\n").as_bytes());
        }
        body.extend_from_slice(&bad);
        if around {
            body.extend_from_slice(format!("\n{{\"good\":{}}}\n", good + 1).as_bytes());
            good += 2;
        }
        let answer = doors.post("/api/streams/events?ack=memory", &[("content-type", "application/json")], &body);
        let shown = || format!("{:?} -> {:?}", String::from_utf8_lossy(&body), answer.said());
        let json = answer.json();
        let count = |name: &str| json[name].as_u64().unwrap_or_else(|| panic!("{}", shown()));
        assert!(count("quarantined") > 0 && json["reason"].is_string(), "{}", shown());
        match answer.status {
            202 => assert!(count("taken") >= 2 * u64::from(around), "{}", shown()),
            400 if !around => assert_eq!((json["error"].as_str(), count("taken")), (Some("invalid_event"), 0)),
            _ => panic!("{}", shown()),
        }
        quarantined += count("quarantined");
        taken += count("taken");
    }
    let rows = doors.process.sql("SELECT count(good) AS n, count(DISTINCT good) AS d, count(*) AS a FROM events");
    assert_eq!((&rows[0]["n"], &rows[0]["d"]), (&good.into(), &good.into()));
    assert_eq!(rows[0]["a"], taken);
    let rows = doors.process.sql("SELECT count(*) AS n, count(reason) AS r FROM events_quarantine");
    assert_eq!((&rows[0]["n"], &rows[0]["r"]), (&quarantined.into(), &quarantined.into()));
}

#[test]
fn what_is_bad_is_kept_as_it_came() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\n");
    let mut dice = Dice(7);
    let lines: HashSet<String> = (0..50)
        .map(|_| malformed(&mut dice))
        .filter_map(|line| String::from_utf8(line.trim_ascii().to_vec()).ok())
        .filter(|line| !line.starts_with(['{', '[']) && line.len() < 500)
        .collect();
    assert!(lines.len() > 5, "{lines:?}");
    for line in &lines {
        assert_eq!(doors.post("/api/streams/events", &[], line).status, 400, "{line}");
    }
    let rows = doors.process.sql("SELECT event FROM events_quarantine");
    let kept: HashSet<String> = rows.iter().map(|row| row["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kept, lines);
}
