//! Sessions outlive the server however it ends, and those that have ended don't come back.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::{Answer, Client};
use crate::process::Process;

const SETTINGS: &str = "[auth]\ndatabase = \"app\"\nattempts_max = 1000\nreturned_columns = [\"id\", \"username\"]\n\
    [[database]]\nname = \"app\"\nurl = \"sqlite:app.db\"\ninit = \"app.sql\"\nwritable = true\n";
/// What is done to a file.
type Damage = dyn Fn(&mut Vec<u8>);

/// The password of both is `pass2`.
const USERS: &str = "create table users (id integer primary key, username text, password text);\n\
    insert into users values (1, 'ann', '$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.'),\n\
    (2, 'ben', '$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.');\n";

fn start() -> Process {
    let process = Process::with(SETTINGS, &[("app.sql", USERS)]);
    until("the table of users is there", || log_in_as(&process, "ann").status == 200);
    process
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn log_in_as(process: &Process, name: &str) -> Answer {
    process.send("POST", "/api/login", Some(&format!("{{\"username\":\"{name}\",\"password\":\"pass2\"}}")))
}

/// Logs a user in; the cookie of the session.
fn log_in(process: &Process, name: &str) -> String {
    let answer = log_in_as(process, name);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie").to_owned()
}

fn send(process: &Process, method: &str, target: &str, cookie: &str) -> (u16, String) {
    let answer = Client::new(process.address()).send(method, target, &[("cookie", cookie)], None).expect("an answer");
    (answer.status, answer.body)
}

fn me(process: &Process, cookie: &str) -> u16 {
    send(process, "GET", "/api/me", cookie).0
}

fn journal(process: &Process) -> PathBuf {
    process.directory().join("salver-data/sessions.journal")
}

/// Waits until the journal has so many of these changes.
#[track_caller]
fn until_stored(process: &Process, change: &str, count: usize) {
    let text = || std::fs::read_to_string(journal(process)).unwrap_or_default();
    until(change, || text().matches(&format!("{{\"{change}\":")).count() >= count);
}

/// Lets the server end as an operator does.
fn end(process: &mut Process) {
    let sent = Command::new("kill").args(["-TERM", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    until("the server ends", || !process.is_alive());
}

fn change(process: &Process, sql: &str) {
    let changed = Command::new("sqlite3").arg(process.directory().join("app.db")).arg(sql).output().expect("sqlite3");
    assert!(changed.status.success(), "{changed:?}");
}

#[test]
fn they_outlive_the_server() {
    let mut process = start();
    let [ann, ben] = ["ann", "ben"].map(|name| log_in(&process, name));
    // At once, before anything was stored by itself.
    end(&mut process);
    let text = std::fs::read_to_string(journal(&process)).expect("a file");
    for cookie in [&ann, &ben] {
        let name = cookie.split_once('=').expect("a cookie").1;
        assert!(!text.contains(name), "{text}");
    }
    assert!(!text.contains("$2y$"), "{text}");
    process.restart();
    assert_eq!(send(&process, "GET", "/api/me", &ann), (200, r#"{"id":1,"username":"ann"}"#.to_owned()));
    assert_eq!(send(&process, "GET", "/api/me", &ben), (200, r#"{"id":2,"username":"ben"}"#.to_owned()));
    let index = send(&process, "GET", "/", &ann).1;
    assert!(index.contains(r#""me":"/api/me""#), "the console asks who it is where it is told to: {index}");
    assert_eq!(me(&process, &format!("{ann}x")), 401);
    let later = log_in(&process, "ann");
    // All three, and the one of the start.
    until_stored(&process, "begin", 4);
    process.restart();
    for cookie in [&ann, &ben, &later] {
        assert_eq!(me(&process, cookie), 200);
    }
    // A cookie may be the first thing that a server sees at any door.
    process.restart();
    assert_eq!(send(&process, "GET", "/api/tables/users", &ben).0, 404);
    assert_eq!(send(&process, "POST", "/api/logout", &ben), (200, r#"{"id":2,"username":"ben"}"#.to_owned()));
    assert_eq!(me(&process, &ben), 401);
}

#[test]
fn who_has_logged_out_stays_out() {
    let mut process = start();
    let ben = log_in(&process, "ben");
    for round in 0..5 {
        let ann = log_in(&process, "ann");
        until_stored(&process, "begin", 3);
        assert_eq!(send(&process, "POST", "/api/logout", &ann).0, 200, "{round}");
        process.restart();
        assert_eq!(me(&process, &ann), 401, "{round}");
        assert_eq!(me(&process, &ben), 200, "{round}");
    }
    // A second log-in of one browser ends the first.
    let first = log_in(&process, "ann");
    let body = Some(&b"{\"username\":\"ann\",\"password\":\"pass2\"}"[..]);
    let again = Client::new(process.address()).send("POST", "/api/login", &[("cookie", &first)], body);
    assert_eq!(again.expect("an answer").status, 200);
    process.restart();
    assert_eq!(me(&process, &first), 401);
}

#[test]
fn a_password_that_changes_meanwhile() {
    let mut process = start();
    let [ann, ben] = ["ann", "ben"].map(|name| log_in(&process, name));
    end(&mut process);
    change(&process, "update users set password = replace(password, 'HWe.', 'HWf.') where id = 1");
    process.restart();
    assert_eq!(send(&process, "GET", "/api/tables/users", &ann).0, 401);
    assert_eq!((me(&process, &ann), me(&process, &ben)), (401, 200));
    // It has ended, whatever the password is later.
    end(&mut process);
    change(&process, "update users set password = replace(password, 'HWf.', 'HWe.') where id = 1");
    process.restart();
    assert_eq!((me(&process, &ann), me(&process, &ben)), (401, 200));
    end(&mut process);
    change(&process, "delete from users where id = 2");
    process.restart();
    assert_eq!(me(&process, &ben), 401);
}

#[test]
fn damage_costs_the_sessions_and_no_more() {
    let mut process = start();
    let damage: [&Damage; 5] = [
        &|text| text[100] ^= 1,
        &|text| text.clear(),
        &|text| text.extend(b"\xff\n"),
        &|text| {
            let line = text.iter().rposition(|byte| *byte == b' ').expect("a line");
            let last = text[line..].to_vec();
            text.extend(last);
        },
        &|text| text.splice(..0, *b"x").for_each(drop),
    ];
    for (case, damage) in damage.iter().enumerate() {
        let ann = log_in(&process, "ann");
        end(&mut process);
        let mut text = std::fs::read(journal(&process)).expect("a file");
        damage(&mut text);
        std::fs::write(journal(&process), &text).expect("a file");
        process.restart();
        assert_eq!(me(&process, &ann), 401, "{case}");
        let next = log_in(&process, "ann");
        end(&mut process);
        process.restart();
        assert_eq!((me(&process, &next), me(&process, &ann)), (200, 401), "{case}");
    }
    // Another key knows none of the names.
    let ann = log_in(&process, "ann");
    end(&mut process);
    std::fs::remove_file(process.directory().join("salver-data/tokens.key")).expect("the key");
    process.restart();
    assert_eq!(me(&process, &ann), 401);
    // What is no file is in nobody's way, and neither is what can't be written.
    let ann = log_in(&process, "ann");
    end(&mut process);
    std::fs::remove_file(journal(&process)).expect("a file");
    std::fs::create_dir(journal(&process)).expect("a directory");
    std::fs::write(journal(&process).join("x"), "").expect("a file");
    process.restart();
    assert_eq!(me(&process, &ann), 401);
    let next = log_in(&process, "ann");
    assert_eq!(me(&process, &next), 200);
    // The end of a session can't be made sure of, and that is said.
    assert_eq!(send(&process, "POST", "/api/logout", &next).0, 503);
    assert_eq!(me(&process, &next), 401);
}

#[test]
fn sessions_of_other_settings() {
    let mut process = start();
    let ann = log_in(&process, "ann");
    until_stored(&process, "begin", 2);
    let other = SETTINGS.replace("[auth]\n", "[auth]\nsession_idle = \"30m\"\n");
    std::fs::write(process.directory().join("salver.toml"), &other).expect("a file");
    let sent = Command::new("kill").args(["-HUP", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    until("other sessions", || me(&process, &ann) == 401);
    until_stored(&process, "end", 1);
    // They do not come back with the settings.
    std::fs::write(process.directory().join("salver.toml"), SETTINGS).expect("a file");
    process.restart();
    assert_eq!(me(&process, &ann), 401);
    // Those of a user who logs in stay when something else is changed.
    let ann = log_in(&process, "ann");
    let key = "a-key-0123456789abcdef";
    let keys = SETTINGS.replace("[auth]\n", &format!("[auth]\napi_keys = [\"{key}\"]\n"));
    std::fs::write(process.directory().join("salver.toml"), keys).expect("a file");
    let sent = Command::new("kill").args(["-HUP", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    let is_known = || Client::new(process.address()).send("GET", "/", &[("x-api-key", key)], None);
    until("the key", || is_known().expect("an answer").status == 200);
    assert_eq!(me(&process, &ann), 200);
    end(&mut process);
    process.restart();
    assert_eq!(me(&process, &ann), 200);
}
