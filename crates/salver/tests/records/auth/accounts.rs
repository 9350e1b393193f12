//! Users in a table: they log in and out, register, change passwords, and have keys; their table stays shut.

use salver_testkit::servers::Kind;

use super::REQUIRED;
use crate::records::client::Answer;
use crate::records::fixture::everything;
use crate::records::program::Program;

const USERS: &str = "database = \"blog\"\nreturned_columns = [\"id\", \"username\"]\n";

fn program(kind: Kind, auth: &str, settings: &str) -> Program {
    let auth = format!("[auth]\n{USERS}{auth}\n");
    Program::over(everything(kind), &auth, &format!("writable = true\n{settings}"))
}

/// The cookie of a session, as a client sends it back.
fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer:?}"));
    assert!(set.contains("; HttpOnly") && set.contains("; SameSite=Lax") && set.contains("; Path=/"), "{set}");
    set.split(';').next().unwrap_or_default().to_owned()
}

fn failed(who: &str) -> String {
    format!("{{\"code\":1012,\"message\":\"Authentication failed for '{who}'\"}}")
}

#[test]
fn in_and_out() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "password_length_min = 4",
            "[[database.rule]]\ntables = [\"messages\"]\nrows = \"to_id = caller.id\"\n",
        );
        let golden = r#"{"id":2,"username":"user2"}"#;
        for (body, who) in [
            (r#"{"username":"user2","password":"pass3"}"#, "user2"),
            (r#"{"username":"nobody","password":"pass2"}"#, "nobody"),
            // A password that is written as it is, and not as a hash, is none.
            (r#"{"username":"user1","password":"pass1"}"#, "user1"),
            (r#"{"username":"","password":""}"#, ""),
            (r#"{"username":"user2"}"#, "user2"),
            (r#"[{"username":"user2","password":"pass2"}]"#, ""),
        ] {
            assert_eq!(program.send("POST", "/login", body).said(), (403, failed(who).as_str()), "{kind:?} {body}");
        }
        assert_eq!(program.send("POST", "/login", "{").said().0, 422, "{kind:?}");
        for (method, target) in [("GET", "/me"), ("POST", "/logout"), ("GET", "/records/tags"), ("GET", "/login")] {
            let answer = program.ask(method, target, &[], None);
            let expected = if target == "/login" { 405 } else { 401 };
            assert_eq!(answer.status, expected, "{kind:?} {method} {target}: {}", answer.body);
        }
        assert_eq!(program.get("/me").said(), (401, REQUIRED), "{kind:?}");
        for body in [r#"{"username":"user2","password":"pass2"}"#, "username=user2&password=pass2"] {
            let answer = program.send("POST", "/login", body);
            assert_eq!(answer.said(), (200, golden), "{kind:?}");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{kind:?}");
            let cookie = cookie(&answer);
            let known = [("cookie", cookie.as_str())];
            assert_eq!(program.ask("GET", "/me", &known, None).said(), (200, golden), "{kind:?}");
            assert_eq!(program.ask("GET", "/records/tags/1", &known, None).status, 200, "{kind:?}");
            assert_eq!(program.ask("GET", "/tables/tags", &known, None).status, 200, "{kind:?}");
            let messages = program.ask("GET", "/records/messages?include=to_id", &known, None);
            assert!(
                messages.body.contains("\"to_id\":2") && !messages.body.contains("\"to_id\":1"),
                "{}",
                messages.body
            );
            // Which of two is the browser's own, nobody can tell.
            let tossed = format!("{cookie}; {}=of-another-host", cookie.split('=').next().unwrap_or_default());
            let both = [("cookie", tossed.as_str())];
            assert_eq!(program.ask("GET", "/records/tags/1", &both, None).status, 403, "{kind:?}");
            assert_eq!(program.ask("GET", "/tables/tags", &both, None).status, 401, "{kind:?}");
            assert_eq!(program.ask("GET", "/me", &both, None).status, 403, "{kind:?}");
            let changed = r#"{"username":"user'3","password":"a good password","newPassword":"another password"}"#;
            assert_eq!(program.ask("POST", "/password", &both, Some(changed)).status, 403, "{kind:?}");
            let twice = format!("{cookie}; {cookie}");
            assert_eq!(program.ask("GET", "/me", &[("cookie", twice.as_str())], None).status, 200, "{kind:?}");
            // Another login makes another session of the same browser, and ends the old one.
            let again = program.ask("POST", "/login", &known, Some(body));
            let next = self::cookie(&again);
            assert_ne!(next, cookie, "{kind:?}");
            assert_eq!(program.ask("GET", "/me", &known, None).said(), (401, REQUIRED), "{kind:?}");
            let known = [("cookie", next.as_str())];
            let out = program.ask("POST", "/logout", &known, Some(""));
            assert_eq!(out.said(), (200, golden), "{kind:?}");
            assert!(out.header("set-cookie").is_some_and(|set| set.contains("Max-Age=0")), "{kind:?}");
            assert_eq!(program.ask("GET", "/records/tags/1", &known, None).said(), (401, REQUIRED), "{kind:?}");
            assert_eq!(program.ask("POST", "/logout", &known, Some("")).said(), (401, REQUIRED), "{kind:?}");
        }
        for forged in
            ["salver_session=x", "salver_session=", "salver_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(program.ask("GET", "/me", &[("cookie", forged)], None).said(), (401, REQUIRED), "{kind:?}");
        }
        // Nobody can register here.
        let new = r#"{"username":"user3","password":"a good password"}"#;
        assert_eq!(program.send("POST", "/register", new).said(), (403, failed("user3").as_str()), "{kind:?}");
    }
}

#[test]
fn the_table_of_users_is_shut() {
    for kind in Kind::ALL {
        let program = program(kind, "mode = \"optional\"", "columns = true");
        for target in [
            "/records/users",
            "/records/users/1",
            "/records/users?filter=password,sw,p",
            "/records/abc_posts?join=users",
            "/records/abc_posts?filter=users.password,sw,p",
            "/records/abc_posts?order=users.password",
            "/columns",
            "/columns/users",
            "/openapi",
            "/geojson/users",
            "/tables/users",
            "/schema",
            "/sql?q=select+*+from+users",
            "/graphql?query=%7Busers%7Bpassword%7D%7D",
        ] {
            let answer = program.get(target);
            assert!(answer.status < 500, "{kind:?} {target}: {:?}", answer.said());
            for word in ["pass1", "cg7", "123456789abc", "user1"] {
                assert!(!answer.body.contains(word), "{kind:?} {target} has {word}: {}", answer.body);
            }
        }
        let forged = r#"{"username":"user4","password":"x"}"#;
        assert_eq!(program.send("POST", "/records/users", forged).status, 404, "{kind:?}");
        let many = r#"{"operations":[{"create":"users","record":{"username":"user4","password":"x"}}]}"#;
        assert_eq!(program.send("POST", "/records", many).status, 404, "{kind:?}");
        assert_eq!(program.database().run("select count(*) from users").trim(), "2", "{kind:?}");
    }
    let shown = program(Kind::Sqlite, "mode = \"optional\"\nusers_shown = true\napi_key_column = \"api_key\"", "");
    assert_eq!(shown.ok("/records/users/1"), r#"{"id":1,"username":"user1","location":null}"#);
    assert_eq!(shown.get("/records/users?filter=password,sw,p").status, 404);
}

#[test]
fn new_users_and_new_passwords() {
    for kind in Kind::ALL {
        let auth = "register = true\nregister_columns = { api_key = \"given\" }\nattempts_max = 50";
        let program =
            program(kind, auth, "[[database.check]]\ncolumns = [\"users.*\"]\nis = \"numeric\"\nmessage = \"no\"\n");
        let post =
            |target: &str, headers: &[(&str, &str)], body: &str| program.ask("POST", target, headers, Some(body));
        for (body, status, expected) in [
            (
                r#"{"username":"user3","password":"short"}"#,
                422,
                r#"{"code":1021,"message":"Password too short (<12 characters)"}"#,
            ),
            (
                r#"{"username":"  ","password":"a good password"}"#,
                422,
                r#"{"code":1022,"message":"Username is empty or only whitespaces"}"#,
            ),
            (
                r#"{"username":"user2","password":"a good password"}"#,
                409,
                r#"{"code":1020,"message":"User 'user2' already exists"}"#,
            ),
            // What the client writes beside name and password counts for nothing.
            (
                r#"{"username":"user'3","password":"a good password","id":1,"api_key":"mine"}"#,
                200,
                r#"{"id":3,"username":"user'3"}"#,
            ),
            (
                r#"{"username":"user'3","password":"a good password"}"#,
                409,
                r#"{"code":1020,"message":"User 'user'3' already exists"}"#,
            ),
        ] {
            assert_eq!(post("/register", &[], body).said(), (status, expected), "{kind:?} {body}");
        }
        let row = program.database().run("select api_key, password from users where id = 3");
        assert!(row.starts_with("given") && row.contains("$2y$10$"), "{kind:?}: {row}");
        let first = cookie(&post("/login", &[], r#"{"username":"user'3","password":"a good password"}"#));
        let other = cookie(&post("/login", &[], r#"{"username":"user'3","password":"a good password"}"#));
        let (known, elsewhere) = ([("cookie", first.as_str())], [("cookie", other.as_str())]);
        let change = |headers: &[(&str, &str)], name: &str, old: &str, new: &str| {
            let body = format!("{{\"username\":\"{name}\",\"password\":\"{old}\",\"newPassword\":\"{new}\"}}");
            let answer = post("/password", headers, &body);
            (answer.status, answer)
        };
        let (old, new) = ("a good password", "a better password");
        assert_eq!(change(&[], "user'3", old, new).0, 403, "{kind:?}");
        assert_eq!(change(&known, "user2", "pass2", new).0, 403, "{kind:?}");
        assert_eq!(change(&known, "user'3", "wrong", new).0, 403, "{kind:?}");
        assert_eq!(change(&known, "user'3", old, "short").0, 422, "{kind:?}");
        let (status, answer) = change(&known, "user'3", old, new);
        assert_eq!((status, answer.body.as_str()), (200, r#"{"id":3,"username":"user'3"}"#), "{kind:?}");
        // A fresh session for who did it, and no other left.
        let fresh = cookie(&answer);
        assert_eq!(program.ask("GET", "/me", &[("cookie", fresh.as_str())], None).status, 200, "{kind:?}");
        assert_eq!(program.ask("GET", "/me", &known, None).status, 401, "{kind:?}");
        assert_eq!(program.ask("GET", "/me", &elsewhere, None).status, 401, "{kind:?}");
        assert_eq!(
            post("/login", &[], r#"{"username":"user'3","password":"a good password"}"#).status,
            403,
            "{kind:?}"
        );
        assert_eq!(
            post("/login", &[], r#"{"username":"user'3","password":"a better password"}"#).status,
            200,
            "{kind:?}"
        );
        let untouched = program.database().run("select count(*) from users where password = 'pass1'");
        assert_eq!(untouched.trim(), "1", "{kind:?}");
    }
}

#[test]
fn keys_in_the_table() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "login = false\napi_key_column = \"api_key\"",
            "tenant = { \"ledger.batch\" = \"caller.user\" }",
        );
        let ask = |key: &str| program.ask("GET", "/records/ledger", &[("x-api-key", key)], None);
        let key = "123456789abc";
        for _ in 0..3 {
            assert_eq!(ask(key).said(), (200, r#"{"records":[]}"#), "{kind:?}");
        }
        let made = program.ask("POST", "/records/ledger", &[("x-api-key", key)], Some(r#"{"item":1}"#));
        assert_eq!(made.said(), (200, "1"), "{kind:?}");
        assert_eq!(program.database().run("select batch from ledger").trim(), "user1", "{kind:?}");
        assert_eq!(program.ask("GET", "/tables/tags", &[("x-api-key", key)], None).status, 200, "{kind:?}");
        // Not what some databases take for the same.
        for bad in ["123456789ABC", "123456789abc ", "123456789ab", "0", "null", "' or '1'='1", "%"] {
            let answer = ask(bad);
            let expected = r#"{"code":1012,"message":"Authentication failed for 'API key'"}"#;
            // White space at the ends of a header is none of its value.
            let is_same = bad.trim() == key;
            assert!(is_same || answer.said() == (403, expected), "{kind:?} {bad}: {:?}", answer.said());
        }
        assert_eq!(ask("").said(), (401, REQUIRED), "{kind:?}");
        assert_eq!(
            program.send("POST", "/login", r#"{"username":"user2","password":"pass2"}"#).status,
            401,
            "{kind:?}"
        );
        // A key that is taken away is soon worth nothing.
        let _ = program.database().run("update users set api_key = 'another key' where id = 1");
        program.until("the old key is out", |_| ask(key).status == 403);
        assert_eq!(ask("another key").status, 200, "{kind:?}");
        // Of two users who have one key, nobody can say who asks.
        let _ = program.database().run("update users set api_key = 'one key' where id in (1, 2)");
        program.until("that key is out too", |_| ask("another key").status == 403);
        assert_eq!(ask("one key").said(), (403, failed("user").as_str()), "{kind:?}");
    }
}

#[test]
fn a_session_is_as_good_as_its_user() {
    let enter = |program: &Program| {
        let answer = program.send("POST", "/login", r#"{"username":"user3","password":"pass2"}"#);
        assert_eq!(answer.status, 200, "{answer:?}");
        cookie(&answer)
    };
    let is_in = |program: &Program, cookie: &str| program.ask("GET", "/me", &[("cookie", cookie)], None).status == 200;
    for kind in Kind::ALL {
        let auth = "[auth]\ndatabase = \"blog\"\nreturned_columns = [\"id\", \"username\", \"api_key\"]\n";
        let rule = "[[database.rule]]\ntables = [\"tags\"]\nrows = \"caller.api_key = 'here'\"\n";
        let program = Program::over(everything(kind), auth, &format!("writable = true\n{rule}"));
        let run = |sql: &str| program.database().run(sql);
        let hash = run("select password from users where id = 2");
        let hash = hash.trim();
        let _ = run(&format!("insert into users (username, password) values ('user3', '{hash}')"));
        let mine = enter(&program);
        let seen = |cookie: &str| program.ask("GET", "/records/tags/1", &[("cookie", cookie)], None).status;
        assert_eq!(seen(&mine), 404, "{kind:?}");
        let _ = run("update users set api_key = 'here' where username = 'user3'");
        program.until("the new column counts", |_| seen(&mine) == 200);
        let _ = run("update users set api_key = null where username = 'user3'");
        program.until("so does the old one", |_| seen(&mine) == 404);
        assert!(is_in(&program, &mine), "{kind:?}");
        let _ = run("update users set password = 'another' where username = 'user3'");
        program.until("another password ends it", |program| !is_in(program, &mine));
        let _ = run(&format!("update users set password = '{hash}' where username = 'user3'"));
        assert!(!is_in(&program, &mine), "{kind:?}: what ended is over");
        let mine = enter(&program);
        let _ = run("update users set username = 'another' where username = 'user3'");
        program.until("another name ends it", |program| !is_in(program, &mine));
        let _ = run("update users set username = 'user3' where username = 'another'");
        let mine = enter(&program);
        assert!(is_in(&program, &mine), "{kind:?}");
        let _ = run("delete from users where username = 'user3'");
        program.until("it ends with its user", |program| !is_in(program, &mine));
        assert_eq!(seen(&mine), 401, "{kind:?}");
    }
}

#[test]
fn wrong_passwords_run_out() {
    let program = program(Kind::Sqlite, "attempts_max = 3", "");
    let login = |password: &str| {
        let body = format!("{{\"username\":\"user2\",\"password\":\"{password}\"}}");
        program.send("POST", "/login", &body)
    };
    for _ in 0..5 {
        assert_eq!(login("pass2").status, 200);
    }
    for _ in 0..3 {
        assert_eq!(login("wrong").status, 403);
    }
    let answer = login("pass2");
    assert_eq!(answer.status, 429, "{}", answer.body);
    let seconds: u64 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("when to come again");
    assert!((2..=60).contains(&seconds), "the rest of the minute: {seconds}");
}

/// Pages of other sites can't log a browser in, nor see what it may.
#[test]
fn pages_of_others() {
    let server = format!("[server]\ncors_origins = [\"http://good.example\"]\n[auth]\n{USERS}");
    let program = Program::over(everything(Kind::Sqlite), &server, "writable = true");
    let body = Some(r#"{"username":"user2","password":"pass2"}"#);
    assert_eq!(program.ask("POST", "/login", &[("origin", "http://evil.example")], body).status, 403);
    let good = ("origin", "http://good.example");
    let answer = program.ask("POST", "/login", &[good], body);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some("http://good.example")));
    // A page that may ask can also read that it must log in first.
    let answer = program.ask("GET", "/records/tags", &[good], None);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, Some("http://good.example")));
    let asked = [good, ("access-control-request-method", "POST")];
    assert_eq!(program.ask("OPTIONS", "/login", &asked, None).status, 200);
}

/// A view with more columns to log in from.
#[test]
fn a_table_to_log_in_from() {
    let sql = format!(
        "{}\ncreate view members as select id, username, password, 'north' as region from users;",
        crate::records::fixture::statements(Kind::Sqlite)
    );
    let auth = "[auth]\ndatabase = \"blog\"\nlogin_table = \"members\"\napi_key_column = \"api_key\"\n";
    let settings = "writable = true\ntenant = { \"ledger.batch\" = \"caller.region\" }";
    let program = Program::over(salver_testkit::servers::database(Kind::Sqlite, &sql), auth, settings);
    let answer = program.send("POST", "/login", r#"{"username":"user2","password":"pass2"}"#);
    assert_eq!(answer.said(), (200, r#"{"id":2,"username":"user2","region":"north"}"#));
    let cookie = cookie(&answer);
    let made = program.ask("POST", "/records/ledger", &[("cookie", &cookie)], Some(r#"{"item":1}"#));
    assert_eq!(made.said(), (200, "1"));
    assert_eq!(program.database().run("select batch from ledger").trim(), "north");
    assert_eq!(program.ask("GET", "/records/members", &[("cookie", &cookie)], None).status, 404);
}

/// Nobody comes in under the name of a key or of a user of the settings: not by registering, nor by a row that is
/// there.
#[test]
fn nobody_takes_the_name_of_another_way() {
    for kind in Kind::ALL {
        let auth = "mode = \"optional\"\nregister = true\napi_key_column = \"api_key\"\nattempts_max = 50\n\
                    api_keys = [\"reporting:0123456789abcdef\"]\n\
                    basic_users = [\"ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.\"]";
        let rule = "[[database.rule]]\ntables = [\"tags\"]\nrows = \"caller.user = 'reporting'\"\n";
        let program = program(kind, auth, rule);
        for name in ["reporting", "Reporting", " reporting ", "ann", "ANN"] {
            let body = format!("{{\"username\":\"{name}\",\"password\":\"a good password\"}}");
            let answer = program.send("POST", "/register", &body);
            assert_eq!(answer.status, 409, "{kind:?} {name}: {}", answer.body);
        }
        assert_eq!(program.database().run("select count(*) from users").trim(), "2", "{kind:?}");
        let _ = program.database().run(
            "insert into users (username, password, api_key) select 'reporting', password, 'key of a user' \
             from users where username = 'user2'",
        );
        let login = program.send("POST", "/login", r#"{"username":"reporting","password":"pass2"}"#);
        assert_eq!(login.status, 403, "{kind:?}: {}", login.body);
        for _ in 0..2 {
            let answer = program.ask("GET", "/records/tags", &[("x-api-key", "key of a user")], None);
            assert_eq!(answer.status, 403, "{kind:?}: {}", answer.body);
        }
        let answer = program.ask("GET", "/records/tags?size=1&include=id", &[("x-api-key", "0123456789abcdef")], None);
        assert_eq!(answer.said(), (200, r#"{"records":[{"id":1}]}"#), "{kind:?}");
    }
    let auth = "mode = \"optional\"\nregister = true\nusers_prefix = \"user:\"\nattempts_max = 50\n\
                api_keys = [\"user2:0123456789abcdef\"]";
    let rule = "[[database.rule]]\ntables = [\"tags\"]\nrows = \"caller.user = 'user2'\"\n\
                [[database.rule]]\ntables = [\"countries\"]\nrows = \"caller.identity = 'user:user2' and caller.user = 'user:user2'\"\n";
    let program = program(Kind::Sqlite, auth, rule);
    let session = cookie(&program.send("POST", "/login", r#"{"username":"user2","password":"pass2"}"#));
    let rows = |target: &str, header: (&str, &str)| {
        let answer = program.ask("GET", target, &[header], None);
        answer.json()["records"].as_array().map(Vec::len)
    };
    let (user, key) = (("cookie", session.as_str()), ("x-api-key", "0123456789abcdef"));
    assert_eq!(rows("/records/tags?size=1", user), Some(0));
    assert_eq!(rows("/records/countries?size=1", user), Some(1));
    assert_eq!(rows("/records/tags?size=1", key), Some(1));
    assert_eq!(rows("/records/countries?size=1", key), Some(0));
}
