//! Entity tags, 304, and that nothing stale is ever served.

use super::server::Server;

#[test]
fn unchanged_answers_are_304_on_every_door() {
    let server = Server::of(&[("t.csv", b"a\n1\n2\n")]);
    for target in ["/api/tables/t?limit=1", "/api/sql?q=select%20sum(a)%20from%20t", "/api/graphql?query={t{a}}"] {
        let first = server.get(target);
        assert_eq!(first.status, 200, "{target}");
        let tag = first.header("etag").unwrap_or_else(|| panic!("{target} has no entity tag")).to_owned();
        for _ in 0..2 {
            let again = server.get_with(target, &[("if-none-match", &tag)]);
            assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
            assert_eq!(again.header("etag"), Some(tag.as_str()));
        }
        assert_eq!(server.get_with(target, &[("if-none-match", "\"other\"")]).status, 200);
    }
}

#[test]
fn tags_differ_by_what_shapes_the_bytes() {
    let server = Server::of(&[("t.csv", b"a\n1\n2\n")]);
    let tag = |target: &str, headers: &[(&str, &str)]| {
        server.get_with(target, headers).header("etag").expect("an entity tag").to_owned()
    };
    let tags = [
        tag("/api/tables/t", &[]),
        tag("/api/tables/t?limit=1", &[]),
        tag("/api/tables/t", &[("accept", "text/csv")]),
        tag("/api/tables/t", &[("accept-encoding", "gzip")]),
    ];
    for (index, one) in tags.iter().enumerate() {
        assert!(!tags[index + 1..].contains(one), "{tags:?}");
    }
    assert_eq!(tags[0], tag("/api/tables/t", &[]));
}

#[test]
fn a_volatile_answer_is_not_kept() {
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    let answer = server.get("/api/sql?q=select%20random()%20as%20r");
    assert_eq!(answer.header("etag"), None);
    assert_ne!(answer.body, server.get("/api/sql?q=select%20random()%20as%20r").body);
}

/// `*` asks whether there is any answer, so it must not stand in for one; and it means nothing to a POST.
#[test]
fn a_star_asks_for_what_there_is_not() {
    let server = Server::of(&[("t.csv", b"a\n1\n")]);
    let star = [("if-none-match", "*")];
    for target in ["/api/tables/t", "/api/tables/t?limit=1", "/api/sql?q=select%20a%20from%20t", "/api/export/t.csv"] {
        for _ in 0..2 {
            let again = server.get_with(target, &star);
            assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
            assert!(again.header("etag").is_some(), "{target}");
        }
        assert_eq!(server.get(target).status, 200, "{target}");
    }
    // What has no tag may be another one by now.
    assert_eq!(server.get_with("/api/sql?q=select%20random()", &star).status, 200);
    assert_eq!(server.get_with("/api/tables/nothing", &star).status, 404);
    assert_eq!(server.ask("POST", "/api/sql", &star, b"select a from t").status, 200);
    assert_eq!(server.get_with("/api/tables/t?filter[a]=x", &star).status, 400);
    assert_eq!(server.get_with("/api/sql?q=select%20nonsense%20from", &star).status, 400);
    let first = server.post("/api/sql", "select a from t");
    let tag = first.header("etag").expect("an entity tag").to_owned();
    let again = server.ask("POST", "/api/sql", &[("if-none-match", &tag)], b"select a from t");
    assert_eq!((again.status, again.text()), (200, r#"[{"a":1}]"#));
}

/// Many who want one thing at once all get it, also when it can't be kept.
#[test]
fn a_crowd_is_served() {
    let server = Server::of(&[("t.csv", b"a\n1\n2\n")]);
    for sql in
        ["select sum(a) as s from t, generate_series(1, 2000000)", "select random() as r from generate_series(1,3)"]
    {
        std::thread::scope(|scope| {
            let crowd: Vec<_> = (0..16).map(|_| scope.spawn(|| server.post("/api/sql", sql).status)).collect();
            for one in crowd {
                assert_eq!(one.join().expect("an answer"), 200);
            }
        });
    }
}
