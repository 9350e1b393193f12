//! What is added to a column of any type that a server of PostgreSQL has is added, or refused: it is no error of ours,
//! and no other sum.

use salver_testkit::servers::{Kind, database};
use serde_json::Value as Json;

use super::{Program, TABLES};

/// What is added.
const PARTS: [&str; 8] = ["1", "-1", "0.5", "\"1\"", "40000", "3000000000", "9223372036854775807", "1e300"];

fn number(value: &Json) -> Option<f64> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[test]
fn what_is_added_is_the_sum_or_refused() {
    let program = Program::over(database(Kind::Postgres, TABLES), "", "writable = true");
    let made = program.database().run("select name, native from made where literals > 0 order by name");
    let (mut wrong, mut added) = (Vec::new(), 0);
    for line in made.lines() {
        let (table, native) = line.split_once('\t').expect("two fields");
        let target = format!("/records/{table}/1");
        let before = program.get(&target);
        let mut was = before.json()["v"].clone();
        'parts: for part in PARTS {
            for (way, path) in
                [("key", target.clone()), ("condition", format!("/records/{table}?filter=id,eq,1&max_affected=1"))]
            {
                let answer = program.send("PATCH", &path, &format!("{{\"v\":{part}}}"));
                let is = program.get(&target).json()["v"].clone();
                let was = std::mem::replace(&mut was, is.clone());
                let what = format!("{native} {was} + {part} by {way}: {} {} is {is}", answer.status, answer.body);
                match (answer.status, answer.body.as_str()) {
                    (200, "1") => {
                        added += 1;
                        let by: f64 = part.trim_matches('"').parse().expect("a number");
                        let (Some(was), Some(is)) = (number(&was), number(&is)) else {
                            wrong.push(what);
                            continue;
                        };
                        // Floats of 32 bits have seven digits.
                        let near = if native.contains("real") { 1e-6 } else { 1e-15 };
                        if (was + by - is).abs() > near * is.abs().max(1e-9) {
                            wrong.push(what);
                        }
                    }
                    // What is not a number is passed over.
                    (200, "0") if is == was => break 'parts,
                    (400..=499, _) if is == was => {}
                    _ => wrong.push(what),
                }
            }
        }
        let back = program.send("PUT", &target, &before.body);
        if back.status != 200 {
            wrong.push(format!("{native}: {} is not taken back: {}", before.body, back.body));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(added > 60, "{added} sums");
}
