//! Values that a client may not give: of columns that rules hide, that the database computes, that say whose a row is,
//! and of users who register.

use serde_json::{Value, json};

use crate::server::Server;

const SETTINGS: &str = r#"
[auth]
mode = "optional"
database = "shop"
register = true
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
[[database.rule]]
tables = ["goods"]
columns_hidden = ["secret"]
rows = "owner = 'me'"
except = "caller.role = 'auditor'"
"#;
/// `seen` and `accounts` show to the test what rules keep from `goods` and what is shut.
const SHOP: &[u8] = b"
    create table users (id integer primary key, username text not null unique, password text not null,
        role text not null default 'user');
    create table goods (id integer primary key, name text not null, owner text not null default 'me',
        secret text default 'hush', twice text generated always as (name || name) stored);
    create view seen as select id, name, owner, secret, twice from goods;
    create view accounts as select username, role from users;
    insert into goods (name, owner) values ('tea', 'me'), ('salt', 'you');
";
const JSON: &str = "application/json";
const CSV: &str = "text/csv";

/// Changes of what is not the client's, by method, target, media type and body.
const CHANGES: [(&str, &str, &str, &str); 22] = [
    ("POST", "", JSON, r#"{"name":"a","secret":"told"}"#),
    ("POST", "", JSON, r#"{"name":"a","SECRET":"told"}"#),
    ("POST", "", JSON, r#"{"name":"a","twice":"told"}"#),
    ("POST", "", JSON, r#"{"name":"a","__proto__":{"secret":"told"}}"#),
    ("POST", "", JSON, r#"{"name":"a","owner":"you"}"#),
    ("POST", "", JSON, r#"[{"name":"a"},{"name":"a","secret":"told"}]"#),
    ("POST", "", JSON, r#"[{"name":"a"},{"name":"a","owner":"you"}]"#),
    ("POST", "", CSV, "name,secret\na,told\n"),
    ("POST", "", CSV, "name,twice\na,told\n"),
    ("POST", "", CSV, "name,owner\na,you\n"),
    ("POST", "", "application/x-www-form-urlencoded", "name=a&secret=told"),
    ("PUT", "/1", JSON, r#"{"secret":"told"}"#),
    ("PUT", "/1", JSON, r#"{"twice":"told"}"#),
    ("PUT", "/1", JSON, r#"{"owner":"you"}"#),
    ("PUT", "/1", JSON, r#"{"id":2,"name":"tea"}"#),
    ("PUT", "/2", JSON, r#"{"name":"told"}"#),
    ("PATCH", "/1", JSON, r#"{"secret":1}"#),
    ("PATCH", "/2", JSON, r#"{"id":1}"#),
    ("PUT", "?filter=secret,eq,hush&max_affected=9", JSON, r#"{"name":"told"}"#),
    ("PUT", "?filter=owner,eq,you&max_affected=9", JSON, r#"{"name":"told"}"#),
    ("DELETE", "/2", JSON, ""),
    ("DELETE", "?filter=owner,eq,you&max_affected=9", JSON, ""),
];

fn server() -> Server {
    let server = Server::with(SETTINGS, &[("shop.sql", SHOP), ("t.csv", b"a\n1\n")]);
    server.until(|server| server.get("/api/records/seen").status == 200);
    server
}

fn records(server: &Server, table: &str) -> Vec<Value> {
    let answer = server.get(&format!("/api/records/{table}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["records"].as_array().expect("records").clone()
}

#[test]
fn columns_that_are_not_the_clients_keep_their_values() {
    let server = server();
    for (method, target, media_type, body) in CHANGES {
        let target = format!("/api/records/goods{target}");
        let answer = server.ask(method, &target, &[("content-type", media_type)], body.as_bytes());
        let at = format!("{method} {target} {body}: {answer:?}");
        assert!((200..500).contains(&answer.status), "{at}");
        let rows = records(&server, "seen");
        let name_of = |id: u64| rows.iter().find(|row| row["id"] == json!(id)).map(|row| row["name"].clone());
        assert_eq!((name_of(1), name_of(2)), (Some(json!("tea")), Some(json!("salt"))), "{at}");
        for row in &rows {
            let name = row["name"].as_str().expect("a name");
            assert_eq!(row["secret"], "hush", "{at}");
            assert_eq!(row["twice"], format!("{name}{name}"), "{at}");
            assert_eq!(row["owner"], if row["id"] == 2 { "you" } else { "me" }, "{at}");
        }
    }
    for parameters in ["filter=secret,sw,h", "filter=secret,eq,hush", "include=secret", "order=secret,desc", "size=9"] {
        let answer = server.get(&format!("/api/records/goods?{parameters}"));
        assert!(!answer.text().contains("hush"), "{parameters}: {answer:?}");
    }
}

#[test]
fn who_registers_chooses_no_role() {
    let server = server();
    for (name, body) in [
        ("eve", r#"{"username":"eve","password":"password-of-eve","role":"auditor"}"#),
        ("eva", r#"{"username":"eva","password":"password-of-eva","Role":"auditor","id":99}"#),
    ] {
        let answer = server.post_json("/api/register", body);
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        assert_eq!(answer.json()["role"], "user", "{name}");
        let login = format!(r#"{{"username":"{name}","password":"password-of-{name}","role":"auditor"}}"#);
        let answer = server.post_json("/api/login", &login);
        assert_eq!((answer.status, &answer.json()["role"]), (200, &json!("user")), "{name}: {answer:?}");
        let cookie = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a session");
        let rows = server.get_with("/api/records/goods", &[("cookie", cookie)]);
        assert!(rows.status == 200 && !rows.text().contains("hush"), "{name}: {rows:?}");
        for target in ["/api/records/users/1", "/api/records/users"] {
            let headers = [("cookie", cookie), ("content-type", JSON)];
            let answer = server.ask("PUT", target, &headers, br#"{"role":"auditor"}"#);
            assert!((400..500).contains(&answer.status), "{target}: {answer:?}");
        }
    }
    let accounts = records(&server, "accounts");
    assert_eq!(accounts.len(), 2);
    assert!(accounts.iter().all(|account| account["role"] == "user"), "{accounts:?}");
}
