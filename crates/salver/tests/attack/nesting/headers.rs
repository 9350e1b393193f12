//! Lists in headers.

use super::{Ask, Construct, besiege, list, numbered, refuse};

fn flat(header: &'static str, value: String) -> Ask {
    Ask::get("/api/tables/flat?limit=1").with(header, value)
}

#[test]
fn lists() {
    besiege(&[
        Construct("formats", 4_000, |n| flat("accept", list("a/b;q=0.5", ",", n))),
        Construct("codings", 4_000, |n| flat("accept-encoding", list("gzip;q=0.5", ",", n))),
        Construct("tags", 4_000, |n| flat("if-none-match", numbered("\"t#\"", ",", n))),
        Construct("cookies", 4_000, |n| flat("cookie", numbered("c#=1", "; ", n))),
        Construct("ranges", 400, |n| {
            Ask::get("/api/export/flat").with("range", format!("bytes={}", list("0-1", ",", n)))
        }),
        Construct("preferences", 4_000, |n| {
            Ask::json("/api/functions/py/echo", "{\"x\":1}").with("prefer", list("wait=1", ",", n))
        }),
        Construct("addresses", 4_000, |n| flat("x-forwarded-for", list("10.0.0.1", ",", n))),
        Construct("lines", 80, |n| {
            (0..n).fold(Ask::get("/api/tables/flat?limit=1"), |ask, _| ask.with("accept", "text/csv"))
        }),
    ]);
}

#[test]
fn nonsense() {
    refuse(&[
        ("lines without end", (0..5_000).fold(Ask::get("/health"), |ask, _| ask.with("accept", "text/csv"))),
        ("a tag that is none", { Ask::json("/api/records/leaf/1", "{\"n\":1}").with("if-match", "\"".repeat(60_000)) }),
    ]);
}
