//! Users of a WordPress log in with the passwords they have there, however old its hashes are.

use salver_testkit::servers::{Kind, database};

use crate::records::client::Answer;
use crate::records::fixture::statements;
use crate::records::program::Program;

/// Names, hashes as WordPress before 6.8, since 6.8 and its plugins wrote them, and passwords.
const USERS: [(&str, &str, &str); 5] = [
    ("ann", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", "test12345"),
    ("ben", "$wp$2y$10$qeleDSuDaeZO5fBsEqFReeWdlqaDnBDBzB16hFgsFnhN9qFBIihvm", "BigBike@2026"),
    ("carl", "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.", "pass2"),
    // Taken in by a page, which puts a backslash before quotes, and by a program, which does not.
    ("dora", "$P$BabcdefghGXREU0A61GISS2x0UeA/20", "it's"),
    ("emil", "$P$Babcdefghax12TFhcUhJN2vcoWa0DU0", "it's"),
];

/// The blog beside a WordPress, as far as users go.
fn program(kind: Kind, auth: &str, settings: &str) -> Program {
    let id = if kind == Kind::Mariadb { "`ID`" } else { "\"ID\"" };
    let mut sql = statements(kind);
    sql.push_str(&format!(
        "\ncreate table wp_users ({id} bigint not null primary key, user_login varchar(60) not null, \
         user_pass varchar(255) not null, user_email varchar(100) not null, \
         user_activation_key varchar(255) not null, display_name varchar(250) not null);\n\
         create table wp_usermeta (umeta_id bigint not null primary key, user_id bigint not null, \
         meta_key varchar(255), meta_value varchar(255));\n\
         insert into wp_usermeta values (1, 1, 'wp_capabilities', 'a:1:{{s:10:\"subscriber\";b:1;}}');\n"
    ));
    for (index, (name, hash, _)) in USERS.iter().enumerate() {
        let id = index + 1;
        sql.push_str(&format!(
            "insert into wp_users values ({id}, '{name}', '{hash}', '{name}@example.org', 'secret', 'N{id}');\n"
        ));
    }
    sql.push_str("insert into wp_users values (9, 'old', '827ccb0eea8a706c4c34a16891f84e7b', '', '', 'Old');\n");
    let auth = format!("[auth]\ndatabase = \"blog\"\nwordpress = \"wp_\"\nattempts_max = 50\n{auth}\n");
    Program::over(database(kind, &sql), &auth, &format!("writable = true\n{settings}"))
}

fn login(program: &Program, name: &str, password: &str) -> Answer {
    let body = serde_json::json!({ "username": name, "password": password }).to_string();
    program.send("POST", "/login", &body)
}

fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer:?}"));
    set.split(';').next().unwrap_or_default().to_owned()
}

#[test]
fn its_users_log_in() {
    for kind in Kind::ALL {
        let program = program(kind, "", "tenant = { \"ledger.batch\" = \"caller.user\" }");
        for (index, (name, _, password)) in USERS.iter().enumerate() {
            let id = index + 1;
            let golden = format!(
                "{{\"ID\":{id},\"user_login\":\"{name}\",\"user_email\":\"{name}@example.org\",\"display_name\":\"N{id}\"}}"
            );
            let email = format!("{name}@example.org");
            for (given, item) in [(*name, id), (email.as_str(), id + 10)] {
                let answer = login(&program, given, &format!(" {password}\n"));
                assert_eq!(answer.said(), (200, golden.as_str()), "{kind:?} {given}");
                let known = [("cookie", cookie(&answer))];
                let known = known.each_ref().map(|(name, value)| (*name, value.as_str()));
                assert_eq!(program.ask("GET", "/me", &known, None).said(), (200, golden.as_str()), "{kind:?}");
                let made = program.ask("POST", "/records/ledger", &known, Some(&format!("{{\"item\":{item}}}")));
                assert_eq!(made.status, 200, "{kind:?} {}", made.body);
            }
            assert_eq!(login(&program, name, "test1234").status, 403, "{kind:?} {name}");
        }
        let batches = program.database().run("select distinct batch from ledger order by batch");
        assert_eq!(batches.split_whitespace().collect::<Vec<_>>(), ["ann", "ben", "carl", "dora", "emil"], "{kind:?}");
        // MD5 is not a hash of passwords; nobody's address is nobody.
        for (name, password) in [("old", "12345"), ("", "12345"), ("@", "x"), ("nobody@example.org", "pass2")] {
            assert_eq!(login(&program, name, password).status, 403, "{kind:?} {name}");
        }
    }
}

#[test]
fn what_users_are_is_shut() {
    for kind in Kind::ALL {
        let program = program(kind, "mode = \"optional\"", "");
        for target in
            ["/records/wp_users", "/records/wp_usermeta", "/tables/wp_usermeta", "/sql?q=select+*+from+wp_users"]
        {
            let answer = program.get(target);
            assert!((400..500).contains(&answer.status), "{kind:?} {target}: {:?}", answer.said());
        }
        let grant = r#"{"meta_value":"a:1:{s:13:\"administrator\";b:1;}"}"#;
        assert_eq!(program.send("PUT", "/records/wp_usermeta/1", grant).status, 404, "{kind:?}");
    }
    let shown = program(Kind::Sqlite, "mode = \"optional\"\nusers_shown = true", "");
    let golden = r#"{"ID":1,"user_login":"ann","user_email":"ann@example.org","display_name":"N1"}"#;
    assert_eq!(shown.ok("/records/wp_users/1"), golden);
    assert_eq!(shown.get("/records/wp_usermeta/1").status, 404);
}

#[test]
fn a_new_password() {
    for kind in Kind::ALL {
        let program = program(kind, "", "");
        let known = cookie(&login(&program, "ann", "test12345"));
        let body = serde_json::json!({ "username": "ann", "password": "test12345", "newPassword": "it's \"better\"" });
        let changed = program.ask("POST", "/password", &[("cookie", &known)], Some(&body.to_string()));
        assert_eq!(changed.status, 200, "{kind:?} {}", changed.body);
        assert_eq!(login(&program, "ann", "test12345").status, 403, "{kind:?}");
        assert_eq!(login(&program, "ann", "it's \"better\"").status, 200, "{kind:?}");
        // As every WordPress can read it.
        let hash = program.database().run("select user_pass from wp_users where user_login = 'ann'");
        assert!(hash.trim().starts_with("$2y$"), "{kind:?}: {hash}");
    }
}
