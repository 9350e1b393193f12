//! Who asks, and how that is proved: keys, tokens, name and password, the same at every door, and nobody gets what is
//! another's.

mod accounts;
mod wordpress;

use salver_testkit::servers::Kind;

use super::client::Answer;
use super::fixture::everything;
use super::program::Program;

/// The secret of the tokens below.
const SECRET: &str = "a secret of thirty-two characters or more";
/// `{"sub":"7","tenant":"north","exp":4102444800}`
const NORTH: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3IiwidGVuYW50Ijoibm9ydGgiLCJleHAiOjQxMDI0NDQ4MDB9.-_5UZhvVq4PchlMkMd1ddSmH8x_RFR_deCjSGR9Euv0";
/// `{"sub":"8","tenant":"south","exp":4102444800}`
const SOUTH: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI4IiwidGVuYW50Ijoic291dGgiLCJleHAiOjQxMDI0NDQ4MDB9.NDwRG95c6Da290wxAGSqYJW5MTSnZn4UadMp5U_M_54";
/// As the first, but of 2017.
const OLD: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3IiwidGVuYW50Ijoibm9ydGgiLCJleHAiOjE1MDAwMDAwMDB9.L_fkimPcko7dYlXeYw5DUAQs0jAXgKLv69FgQ4IExjk";
/// As the first, under no algorithm.
const UNSIGNED: &str = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiI3IiwidGVuYW50Ijoibm9ydGgifQ.";

const REQUIRED: &str = r#"{"code":1011,"message":"Authentication required"}"#;

fn program(kind: Kind, auth: &str, settings: &str) -> Program {
    Program::over(everything(kind), &format!("[auth]\n{auth}\n"), &format!("writable = true\n{settings}"))
}

/// Every door with something to ask of it.
const DOORS: [(&str, &str, &str); 14] = [
    ("GET", "/records/tags", ""),
    ("GET", "/records/tags/1", ""),
    ("GET", "/geojson/countries/2", ""),
    ("GET", "/columns", ""),
    ("GET", "/openapi", ""),
    ("GET", "/status/ping", ""),
    ("GET", "/tables/tags", ""),
    ("GET", "/schema", ""),
    ("GET", "/schema/tags", ""),
    ("GET", "/sql?q=select+1+as+one", ""),
    ("POST", "/sql", "select 1 as one"),
    ("POST", "/graphql", "query { tags { id } }"),
    ("POST", "/records/tags", r#"{"name":"x","is_important":false}"#),
    ("DELETE", "/records/tags/1", ""),
];

fn knock(program: &Program, (method, target, body): (&str, &str, &str), headers: &[(&str, &str)]) -> Answer {
    program.ask(method, target, headers, (method == "POST").then_some(body))
}

#[test]
fn every_door_is_shut() {
    for kind in Kind::ALL {
        let program =
            program(kind, "api_keys = [\"reporting:0123456789abcdef\", \"fedcba9876543210\"]", "columns = true");
        let before = program.database().run("select count(*) from tags");
        let is_records =
            |target: &str| ["/tables", "/schema", "/sql", "/graphql"].iter().all(|own| !target.starts_with(own));
        for _ in 0..2 {
            for door in DOORS {
                let answer = knock(&program, door, &[]);
                if is_records(door.1) {
                    assert_eq!(answer.said(), (401, REQUIRED), "{kind:?} {door:?}");
                } else {
                    let expected =
                        r#"{"code":401,"error":"authentication_required","message":"Authentication required"}"#;
                    assert_eq!(answer.said(), (401, expected), "{kind:?} {door:?}");
                }
                let answer = knock(&program, door, &[("x-api-key", "0123456789abcdeF")]);
                let status = if is_records(door.1) { 403 } else { 401 };
                assert_eq!(answer.status, status, "{kind:?} {door:?}");
                assert!(answer.body.contains("Authentication failed for 'API key'"), "{kind:?}: {}", answer.body);
                assert!(!answer.body.contains("0123"), "{kind:?}: {}", answer.body);
            }
            // What was answered to others, and kept, is not for everybody.
            for key in ["0123456789abcdef", "fedcba9876543210"] {
                for door in &DOORS[..12] {
                    let answer = knock(&program, *door, &[("x-api-key", key)]);
                    assert_eq!(answer.status, 200, "{kind:?} {door:?}: {}", answer.body);
                    assert_eq!(
                        answer.header("cache-control").map(|text| text.contains("public")),
                        Some(false),
                        "{door:?}"
                    );
                }
            }
        }
        assert_eq!(program.database().run("select count(*) from tags"), before, "{kind:?}");
        let key = [("x-api-key", "fedcba9876543210")];
        let golden = r#"{"id":1,"name":"funny","is_important":false}"#;
        assert_eq!(program.ask("GET", "/records/tags/1", &key, None).said(), (200, golden), "{kind:?}");
        let answer = program.ask("GET", "/records/tags/1", &key, None);
        let tag = answer.header("etag").unwrap_or_default().to_owned();
        let known = [("x-api-key", "fedcba9876543210"), ("if-none-match", tag.as_str())];
        assert_eq!(program.ask("GET", "/records/tags/1", &known, None).status, 304, "{kind:?}");
        assert_eq!(program.ask("GET", "/records/tags/1", &known[1..], None).said(), (401, REQUIRED), "{kind:?}");
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"), "{kind:?}");
        // No ways in but this one, and no word of what there is.
        for target in ["/nothing", "/records/nothing", "/login", "/me", "/tables/nothing", "/kv/a/b", "/graphql/x"] {
            assert_eq!(program.get(target).status, 401, "{kind:?} {target}");
        }
        assert_eq!(
            program.ask("GET", "/me", &key, None).said(),
            (404, r#"{"code":1000,"message":"Route '\/me' not found"}"#)
        );
        // Probes, and browsers that ask first.
        assert_eq!(program.get("/version").status, 200, "{kind:?}");
        assert_eq!(program.ask("OPTIONS", "/records/tags", &[], None).status, 204, "{kind:?}");
        let mut client = super::client::Client::new(program.address());
        for (target, status) in [("/health", 200), ("/ready", 200), ("/", 401), ("/favicon.ico", 401)] {
            let answer = client.send("GET", target, &[], None).unwrap_or_else(|error| panic!("{target}: {error}"));
            assert_eq!(answer.status, status, "{kind:?} {target}");
        }
    }
}

#[test]
fn callers_are_kept_apart() {
    for kind in Kind::ALL {
        let auth = "api_keys = [\"north:0123456789abcdef\", \"south:fedcba9876543210\"]\nmode = \"optional\"";
        let program = program(kind, auth, "tenant = { \"ledger.batch\" = \"caller.user\" }");
        let north = ("x-api-key", "0123456789abcdef");
        let south = ("x-api-key", "fedcba9876543210");
        for (who, item) in [(north, "1"), (south, "2")] {
            let body = format!("{{\"item\":{item}}}");
            assert_eq!(program.ask("POST", "/records/ledger", &[who], Some(&body)).said(), (200, item), "{kind:?}");
        }
        let list = |headers: &[(&str, &str)]| program.ask("GET", "/records/ledger", headers, None);
        let of_north = list(&[north]);
        assert_eq!(of_north.body, r#"{"records":[{"id":1,"batch":"north","item":1}]}"#, "{kind:?}");
        assert_eq!(list(&[south]).body, r#"{"records":[{"id":2,"batch":"south","item":2}]}"#, "{kind:?}");
        // Optional: nobody is somebody of whom nothing is known. A wrong key is wrong all the same.
        assert_eq!(list(&[]).body, r#"{"records":[]}"#, "{kind:?}");
        assert_eq!(list(&[("x-api-key", "wrong")]).status, 403, "{kind:?}");
        assert_eq!(program.ask("GET", "/tables/tags", &[("x-api-key", "wrong")], None).status, 401, "{kind:?}");
        // Who stands in between may have looked at either.
        for both in [[north, south], [north, ("x-api-key", "wrong")], [("x-api-key", "wrong"), north], [north, north]] {
            let answer = list(&both);
            assert!(answer.status == 403 && answer.body.contains("more than once"), "{kind:?}: {}", answer.body);
        }
        // A tag of one is nothing to the other.
        if let Some(tag) = of_north.header("etag") {
            assert_eq!(list(&[north, ("if-none-match", tag)]).status, 304, "{kind:?}");
            assert_eq!(list(&[south, ("if-none-match", tag)]).status, 200, "{kind:?}");
            assert_eq!(list(&[("if-none-match", tag)]).status, 200, "{kind:?}");
        }
        let one = program.ask("GET", "/records/ledger/1", &[north], None);
        let tag = one.header("etag").unwrap_or_default();
        assert_eq!(
            program.ask("GET", "/records/ledger/1", &[south, ("if-none-match", tag)], None).status,
            404,
            "{kind:?}"
        );
        // Nor is what one did under a key of idempotency.
        for (who, id) in [(north, "3"), (south, "4"), (north, "3")] {
            let headers = [who, ("idempotency-key", "again")];
            let answer = program.ask("POST", "/records/ledger", &headers, Some(r#"{"item":5}"#));
            assert_eq!(answer.said(), (200, id), "{kind:?}");
        }
        // The other doors know who asks, too.
        for (who, item, n) in [(Some(north), "1", 2), (Some(south), "2", 2), (None, "", 0)] {
            let table = program.ask("GET", "/tables/ledger?columns=item&limit=1&sort=id", who.as_slice(), None);
            let expected = if n == 0 { "[]".to_owned() } else { format!("[{{\"item\":{item}}}]") };
            assert_eq!(table.said(), (200, expected.as_str()), "{kind:?} {who:?}");
            let sql = program.ask("POST", "/sql", who.as_slice(), Some("select count(*) as n from ledger"));
            assert_eq!(sql.body, format!("[{{\"n\":{n}}}]"), "{kind:?} {who:?}");
        }
        let mutation =
            r#"{"query":"mutation { create_ledger(records: [{batch: \"north\", item: 9}]) { batch item } }"}"#;
        let json = ("content-type", "application/json");
        let answer = program.ask("POST", "/graphql", &[south, json], Some(mutation));
        let golden = r#"{"data":{"create_ledger":[{"batch":"south","item":9}]}}"#;
        assert_eq!(answer.said(), (200, golden), "{kind:?}");
        let rows = program.database().run("select batch from ledger where item = 9");
        assert_eq!(rows.trim(), "south", "{kind:?}");
    }
}

#[test]
fn tokens() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            &format!("jwt_secrets = [\"{SECRET}\"]"),
            "tenant = { \"ledger.batch\" = \"caller.tenant\" }\n\
             [[database.rule]]\ntables = [\"messages\"]\nrows = \"from_id = caller.user\"\n",
        );
        let bearer = |token: &str| format!("Bearer {token}");
        let (north, south) = (bearer(NORTH), bearer(SOUTH));
        let made = program.ask("POST", "/records/ledger", &[("x-authorization", &north)], Some(r#"{"item":1}"#));
        assert_eq!(made.said(), (200, "1"), "{kind:?}");
        for (name, token, expected) in [
            ("x-authorization", &north, r#"{"records":[{"id":1,"batch":"north","item":1}]}"#),
            ("authorization", &north, r#"{"records":[{"id":1,"batch":"north","item":1}]}"#),
            ("authorization", &south, r#"{"records":[]}"#),
        ] {
            assert_eq!(
                program.ask("GET", "/records/ledger", &[(name, token)], None).said(),
                (200, expected),
                "{kind:?}"
            );
        }
        let messages = program.ask("GET", "/records/messages?include=id", &[("authorization", &south)], None);
        assert_eq!(messages.said(), (200, r#"{"records":[]}"#), "{kind:?}");
        let tampered = format!("{}x", &north[..north.len() - 1]);
        let crossed = format!(
            "{}.{}",
            bearer(SOUTH.rsplit_once('.').map_or("", |own| own.0)),
            NORTH.rsplit('.').next().unwrap_or("")
        );
        for bad in [bearer(OLD), bearer(UNSIGNED), tampered, crossed, bearer("x"), bearer("a.b.c")] {
            let answer = program.ask("GET", "/records/ledger", &[("authorization", &bad)], None);
            let expected = r#"{"code":1012,"message":"Authentication failed for 'JWT'"}"#;
            assert_eq!(answer.said(), (403, expected), "{kind:?} {bad}");
            let answer = program.ask("GET", "/tables/tags", &[("authorization", &bad)], None);
            assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{kind:?} {bad}");
        }
        for nothing in [
            vec![],
            vec![("authorization", "Bearer ")],
            vec![("authorization", "Basic eDp5")],
            vec![("authorization", NORTH)],
        ] {
            let answer = program.ask("GET", "/records/ledger", &nothing, None);
            assert_eq!(
                (answer.said(), answer.header("www-authenticate")),
                ((401, REQUIRED), Some("Bearer")),
                "{kind:?} {nothing:?}"
            );
        }
    }
}

/// Name and password with each request, of the settings and of a file that changes.
#[test]
fn name_and_password() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("users");
    // The password is `pass2`.
    let hash = "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.";
    std::fs::write(&file, format!("# users\nben:{hash}\n")).expect("the file");
    let auth = format!(
        "basic_users = [\"ann:{hash}\"]\nbasic_file = \"{}\"\nrealm = \"The shop\"\nattempts_max = 3",
        file.display()
    );
    let program = program(Kind::Sqlite, &auth, "tenant = { \"ledger.batch\" = \"caller.user\" }");
    let ask = |credentials: &str| program.ask("GET", "/records/ledger", &[("authorization", credentials)], None);
    let challenge = Some("Basic realm=\"The shop\"");
    let answer = program.get("/records/ledger");
    assert_eq!((answer.said(), answer.header("www-authenticate")), ((401, REQUIRED), challenge));
    // A page asks by itself: the browser must not.
    let by_page = program.ask("GET", "/records/ledger", &[("x-requested-with", "XMLHttpRequest")], None);
    let other = Some("XBasic realm=\"The shop\"");
    assert_eq!((by_page.said(), by_page.header("www-authenticate")), ((401, REQUIRED), other));
    let (ann, ben, carl) = ("Basic YW5uOnBhc3My", "basic YmVuOnBhc3My", "Basic Y2FybDpwYXNzMg==");
    // Right ones are never too many.
    for who in [ann, ben, ann, ben, ann, ben] {
        assert_eq!(ask(who).said(), (200, r#"{"records":[]}"#), "{who}");
    }
    assert_eq!(program.ask("GET", "/tables/tags", &[("authorization", ann)], None).status, 200);
    let made = program.ask("POST", "/records/ledger", &[("authorization", ann)], Some(r#"{"item":1}"#));
    assert_eq!(made.said(), (200, "1"));
    assert_eq!(ask(ann).said(), (200, r#"{"records":[{"id":1,"batch":"ann","item":1}]}"#));
    assert_eq!(ask(ben).said(), (200, r#"{"records":[]}"#));
    assert_eq!(ask(carl).said(), (403, r#"{"code":1012,"message":"Authentication failed for 'carl'"}"#));
    // `ann:pass3`
    assert_eq!(ask("Basic YW5uOnBhc3Mz").said(), (403, r#"{"code":1012,"message":"Authentication failed for 'ann'"}"#));
    assert_eq!(ask("Basic !").status, 403);
    assert_eq!(ask("Basic YW5uOnBhc3M0").status, 403);
    let answer = ask("Basic YW5uOnBhc3M1");
    assert_eq!(answer.status, 429, "{}", answer.body);
    let seconds: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("when to come again");
    assert!((2..=60).contains(&seconds), "the rest of the minute: {seconds}");
    assert!(answer.body.contains("too_many_attempts"), "{}", answer.body);
    // Who is known stays known.
    assert_eq!(ask(ann).status, 200);
    // The file changes: one goes.
    std::fs::write(&file, "# nobody\n").expect("the file");
    program.until("ben is out", |_| ask(ben).status != 200);
    assert_eq!(ask(ann).status, 200);
}

/// Several ways at once: the first that is given decides.
#[test]
fn several_ways() {
    let auth = format!("api_keys = [\"north:0123456789abcdef\"]\njwt_secrets = [\"{SECRET}\"]");
    let program = program(Kind::Sqlite, &auth, "tenant = { \"ledger.batch\" = \"caller.user\" }");
    let token = format!("Bearer {SOUTH}");
    let make = |headers: &[(&str, &str)], item: &str| {
        program.ask("POST", "/records/ledger", headers, Some(&format!("{{\"item\":{item}}}"))).status
    };
    assert_eq!(make(&[("authorization", &token)], "1"), 200);
    assert_eq!(make(&[("x-api-key", "0123456789abcdef")], "2"), 200);
    assert_eq!(make(&[("x-api-key", "0123456789abcdef"), ("authorization", &token)], "3"), 200);
    assert_eq!(make(&[("x-api-key", "wrong"), ("authorization", &token)], "4"), 403);
    assert_eq!(make(&[("x-api-key", ""), ("authorization", &token)], "5"), 200);
    let rows = program.database().run("select batch, item from ledger order by item");
    let rows: Vec<&str> = rows.split_whitespace().collect();
    assert_eq!(rows.join(" ").replace('|', " "), "8 1 north 2 north 3 8 5");
}
