//! User code in sandboxes: what it can't do, what it still can, and that nothing of it is left.
//!
//! What needs root or user namespaces is tested where they are; elsewhere, that the file is refused.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::serve;
use crate::it::server::Server;

const PYTHON: &[u8] = br#"
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile


def pids():
    return [os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0)]


def user():
    return [os.getuid(), os.geteuid(), os.getgid(), os.getgroups(), os.environ.get("HOME"), os.environ.get("USER")]


def status(name: str):
    with open("/proc/self/status") as lines:
        return next(line.split()[1] for line in lines if line.startswith(name + ":"))


def limit(name: str):
    return resource.getrlimit(getattr(resource, name))[0]


def reach(port: int):
    try:
        socket.create_connection(("127.0.0.1", port), 60).close()
        return "reached"
    except OSError:
        return "cut"


def read(target: str):
    try:
        with open(target, "rb") as opened:
            return len(opened.read())
    except PermissionError:
        return "denied"


def answer(target: str):
    return pathlib.Path(target)


def run(program: str):
    return subprocess.run([program, "-u"], capture_output=True, text=True).stdout.strip()


def crash(directory: str):
    os.chdir(directory)
    os.abort()


def open_all():
    try:
        return len([open(os.devnull) for _ in range(1000)])
    except OSError:
        return "no more"


def fork_all(count: int):
    children = []
    try:
        for _ in range(count):
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except BlockingIOError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return len(children)


def temporary():
    made = tempfile.NamedTemporaryFile(delete=False)
    made.write(b"made")
    made.close()
    return pathlib.Path(made.name)


def eat():
    return len(bytearray(10_000_000_000))


def spin():
    while True:
        pass
"#;

const R: &[u8] = br#"
pids <- function() {
  stat <- strsplit(sub(".*\\) ", "", readLines("/proc/self/stat")), " ")[[1]]
  as.integer(c(Sys.getpid(), stat[2:4]))
}
user <- function() as.integer(c(system2("id", "-u", stdout = TRUE), system2("id", "-g", stdout = TRUE)))
reach <- function(port) {
  tried <- tryCatch(suppressWarnings(socketConnection("127.0.0.1", port, timeout = 60)), error = function(e) NULL)
  if (is.null(tried)) return("cut")
  close(tried)
  "reached"
}
eat <- function() length(numeric(2e9))
spin <- function() repeat {}
"#;

/// The user that code runs as: nobody but the kernel and the list of users knows it.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Whether user namespaces can be made here.
fn has_namespaces() -> bool {
    let tried = Command::new("unshare").args(["--user", "--map-current-user", "true"]).output();
    tried.is_ok_and(|said| said.status.success())
}

/// What a function gives; `None` if its sandbox can't be made, of which a client is told.
fn value(server: &Server, target: &str, arguments: &Value) -> Option<Value> {
    let answer = server.post(&format!("/api/functions/{target}"), &arguments.to_string());
    if answer.status == 503 && !has_namespaces() {
        assert!(answer.text().contains("its sandbox can't be made"), "{}", answer.text());
        assert!(answer.json()["hint"].as_str().unwrap().contains("user namespaces"), "{}", answer.text());
        return None;
    }
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    Some(answer.json())
}

/// Lets everybody enter a directory.
fn open_to_all(directory: &Path) {
    std::fs::set_permissions(directory, Permissions::from_mode(0o755)).unwrap();
}

/// A server with `toml` whose files everybody can read.
fn serve_openly(toml: &str) -> Server {
    Server::prepared(toml, &[("py.py", PYTHON), ("r.R", R)], open_to_all)
}

/// The living processes of a group.
fn members(group: &Value) -> usize {
    let group = group.to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok());
    let is_member = |stat: &String| {
        // The name in parentheses may have anything in it. Then come the state, the parent and the group.
        let fields: Vec<&str> = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
        fields.len() > 2 && !["Z", "X"].contains(&fields[0]) && fields[2] == group
    };
    stats.filter(is_member).count()
}

#[test]
fn code_gains_no_privileges_and_has_its_own_session() {
    let toml = "
        [[function]]
        name = 'basic'
        file = 'py.py'
        open_files_max = 64
        [[function]]
        name = 'off'
        file = 'py.py'
        sandbox = 'off'
    ";
    let server = serve(toml, &[("py.py", PYTHON)]);
    // Whoever runs the tests may have no way to new privileges either.
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("NoNewPrivs:")).unwrap().trim();
    for (file, privileges, files) in [("basic", "1", json!("no more")), ("off", own, json!(1_000))] {
        let call = |function: &str, arguments| value(&server, &format!("{file}/{function}"), &arguments).unwrap();
        assert_eq!(call("status", json!({"name": "NoNewPrivs"})), privileges, "{file}");
        assert_eq!(call("open_all", json!({})), files, "{file}");
        let pids = call("pids", json!({}));
        assert_eq!((&pids[1], &pids[1]), (&pids[2], &pids[3]), "{file}: the session is that of its zygote");
    }
}

#[test]
fn setuid_programs_give_nothing() {
    if !is_root() {
        return;
    }
    let toml = "
        [[function]]
        name = 'basic'
        file = 'py.py'
        run_as = 'nobody'
        [[function]]
        name = 'off'
        file = 'py.py'
        run_as = 'nobody'
        sandbox = 'off'
    ";
    let server = serve_openly(toml);
    let program = server.file("id");
    std::fs::copy("/usr/bin/id", &program).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    let run = |file: &str| value(&server, &format!("{file}/run"), &json!({"program": program})).unwrap();
    assert_eq!(run("basic"), NOBODY.to_string());
    // The test's own try tells whether the file system lets such programs be.
    let own = Command::new(&program).arg("-u").uid(NOBODY).gid(NOBODY).output().unwrap();
    assert_eq!(run("off"), String::from_utf8(own.stdout).unwrap().trim());
}

#[test]
fn the_network_is_cut_where_that_is_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = json!({"port": listener.local_addr().unwrap().port()});
    let file = |name: &str, file: &str, more: &str| format!("[[function]]\nname = '{name}'\nfile = '{file}'\n{more}\n");
    let toml: String = [("py", "py.py"), ("r", "r.R")]
        .map(|(name, path)| {
            file(name, path, "") + &file(&format!("{name}_cut"), path, "network = false\nworkers_min = 1")
        })
        .concat();
    let server = serve(&toml, &[("py.py", PYTHON), ("r.R", R)]);
    for name in ["py", "r"] {
        assert_eq!(value(&server, &format!("{name}/reach"), &port).unwrap(), "reached", "{name}");
        if let Some(reached) = value(&server, &format!("{name}_cut/reach"), &port) {
            assert_eq!(reached, "cut", "{name}");
        }
    }
}

#[test]
fn strict_code_sees_nothing_of_the_server() {
    let toml = "
        [[function]]
        name = 'basic'
        file = 'py.py'
        [[function]]
        name = 'strict'
        file = 'py.py'
        sandbox = 'strict'
    ";
    let server = serve(toml, &[("py.py", PYTHON), ("own.txt", b"own")]);
    let environment = json!({"target": format!("/proc/{}/environ", server.pid())});
    assert!(value(&server, "basic/read", &environment).unwrap().as_u64().unwrap() > 0);
    let Some(read) = value(&server, "strict/read", &environment) else { return };
    assert_eq!(read, "denied");
    assert_eq!(value(&server, "strict/status", &json!({"name": "CapEff"})).unwrap(), "0000000000000000");
    // The server opens the files that code answers: none that is the server's own, in the kernel's eyes.
    for target in ["/proc/self/environ".to_owned(), format!("/proc/{}/environ", server.pid()), "/dev/zero".to_owned()] {
        let answer = server.post("/api/functions/strict/answer", &json!({ "target": target }).to_string());
        let problem = answer.json();
        assert_eq!((answer.status, problem["error"].as_str()), (500, Some("function_failed")), "{target}: {problem}");
    }
    let answer = server.post("/api/functions/strict/answer", &json!({"target": server.file("own.txt")}).to_string());
    assert_eq!((answer.status, answer.text()), (200, "own"));
}

/// A program that everybody may run: where the tests' own is, not everybody can go.
fn program_for_all(directory: &Path) -> PathBuf {
    let (own, copy) = (Path::new(env!("CARGO_BIN_EXE_salver")), directory.join("salver"));
    if std::fs::hard_link(own, &copy).is_err() {
        std::fs::copy(own, &copy).unwrap();
    }
    copy
}

#[test]
fn code_runs_as_another_user() {
    if !is_root() {
        return;
    }
    let toml = "
        [[function]]
        file = 'py.py'
        run_as = 'nobody'
        [[function]]
        file = 'r.R'
        run_as = 'nobody'
    ";
    let directory = tempfile::tempdir().unwrap();
    open_to_all(directory.path());
    let program = Command::new(program_for_all(directory.path()));
    let server = Server::run_by(program, toml, &[("py.py", PYTHON), ("r.R", R), ("secret", b"kept")], |directory| {
        open_to_all(directory);
        std::fs::set_permissions(directory.join("secret"), Permissions::from_mode(0o600)).unwrap();
    });
    let user = value(&server, "py/user", &json!({})).unwrap();
    let group = user[2].clone();
    assert_eq!(user, json!([NOBODY, NOBODY, group, [], "/nonexistent", "nobody"]));
    assert_eq!(value(&server, "r/user", &json!({})).unwrap(), json!([NOBODY, group]));
    let secret = json!({"target": server.file("secret")});
    assert_eq!(value(&server, "py/read", &secret).unwrap(), "denied");
    assert_eq!(server.post("/api/functions/py/answer", &secret.to_string()).status, 500);
    let environment = json!({"target": format!("/proc/{}/environ", server.pid())});
    assert_eq!(value(&server, "py/read", &environment).unwrap(), "denied");
    let made = server.post("/api/functions/py/temporary", "");
    assert_eq!((made.status, made.text()), (200, "made"));
    // Code that is loaded again finds its socket and its files as before.
    std::fs::write(server.file("py.py"), [PYTHON, b"\ndef later():\n    return 1\n"].concat()).unwrap();
    server.until(|server| server.post("/api/functions/py/later", "").text() == "1");
    // What ends others is the server's.
    let toml = toml.replace("run_as", "timeout = '1s'\nrun_as");
    let program = Command::new(directory.path().join("salver"));
    let server = Server::run_by(program, &toml, &[("py.py", PYTHON), ("r.R", R)], open_to_all);
    for file in ["py", "r"] {
        assert_eq!(server.post(&format!("/api/functions/{file}/spin"), "").status, 504, "{file}");
        value(&server, &format!("{file}/pids"), &json!({})).unwrap();
    }
}

#[test]
fn a_sandbox_that_cannot_be_had_is_refused() {
    let toml = "
        [[function]]
        name = 'nobody'
        file = 'py.py'
        run_as = 'no-such-user'
        [[function]]
        name = 'root'
        file = 'py.py'
        run_as = 'root'
        [[function]]
        name = 'plain'
        file = 'py.py'
    ";
    let server = serve(toml, &[("py.py", PYTHON)]);
    for (file, message) in [("nobody", "there is no user `no-such-user`"), ("root", "`root` is the superuser")] {
        let answer = server.post(&format!("/api/functions/{file}/pids"), "");
        let problem = answer.json();
        assert_eq!((answer.status, problem["error"].as_str()), (503, Some("entry_unavailable")), "{problem}");
        assert!(problem["message"].as_str().unwrap().ends_with(message), "{problem}");
        assert!(problem["hint"].as_str().unwrap().contains("`run_as`"), "{problem}");
    }
    value(&server, "plain/pids", &json!({})).unwrap();
}

#[test]
fn crashes_leave_no_core_dumps() {
    let toml = "
        [[function]]
        name = 'basic'
        file = 'py.py'
        [[function]]
        name = 'off'
        file = 'py.py'
        sandbox = 'off'
    ";
    let server = Server::bounded(&["-S -c $(ulimit -H -c)"], toml, &[("py.py", PYTHON)]);
    let directory = server.file("cores");
    std::fs::create_dir(&directory).unwrap();
    let limit = |file: &str| value(&server, &format!("{file}/limit"), &json!({"name": "RLIMIT_CORE"})).unwrap();
    let (basic, off) = (limit("basic").as_i64().unwrap(), limit("off").as_i64().unwrap());
    assert!((0..=1).contains(&basic), "{basic}");
    // -1 is no bound.
    assert!(off == basic || off == -1 || off > 1, "{off}");
    let answer = server.post("/api/functions/basic/crash", &json!({ "directory": directory }).to_string());
    assert_eq!(answer.status, 500, "{}", answer.text());
    // The process has ended, and what takes dumps with it.
    value(&server, "basic/pids", &json!({})).unwrap();
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn processes_are_counted_for_each_file() {
    let user = if is_root() { "run_as = 'nobody'" } else { "" };
    let toml = format!(
        "[[function]]\nname = 'few'\nfile = 'py.py'\nprocesses_max = 20\nworkers = 2\n{user}\n\
         [[function]]\nname = 'many'\nfile = 'py.py'\n{user}\n"
    );
    let server = serve_openly(&toml);
    let Some(few) = value(&server, "few/fork_all", &json!({"count": 40})) else { return };
    assert!((1..20).contains(&few.as_u64().unwrap()), "{few}");
    assert_eq!(value(&server, "many/fork_all", &json!({"count": 40})).unwrap(), 40);
    assert_eq!(value(&server, "few/fork_all", &json!({"count": 1})).unwrap(), 1);
}

const STRICT: &str = "
    [[function]]
    file = 'py.py'
    sandbox = 'strict'
    network = false
    memory_bytes_max = '512MiB'
    timeout = '4s'
    [[function]]
    file = 'r.R'
    sandbox = 'strict'
    network = false
    memory_bytes_max = '512MiB'
    timeout = '4s'
";

#[test]
fn limits_hold_in_a_sandbox() {
    let server = serve(STRICT, &[("py.py", PYTHON), ("r.R", R)]);
    for file in ["py", "r"] {
        let Some(before) = value(&server, &format!("{file}/pids"), &json!({})) else { return };
        for (function, status, code) in [("eat", 500, "out_of_memory"), ("spin", 504, "timeout")] {
            let answer = server.post(&format!("/api/functions/{file}/{function}"), "");
            let problem = answer.json();
            assert_eq!((answer.status, problem["error"].as_str()), (status, Some(code)), "{file}: {problem}");
            let after = value(&server, &format!("{file}/pids"), &json!({})).unwrap();
            assert_eq!(after[1], before[1], "{file}: the next worker is of the same zygote");
        }
    }
}

#[test]
fn the_end_of_the_server_ends_code_in_a_sandbox() {
    let toml = STRICT.replace("'4s'", "'10m'");
    let mut server = serve(&toml, &[("py.py", PYTHON), ("r.R", R)]);
    let mut groups = Vec::new();
    for file in ["py", "r"] {
        let Some(pids) = value(&server, &format!("{file}/pids"), &json!({})) else { return };
        groups.push(pids[2].clone());
    }
    assert!(groups.iter().all(|group| members(group) >= 2), "a zygote and its worker each");
    std::thread::scope(|scope| {
        let spinning: Vec<_> = ["py", "r"]
            .map(|file| {
                let request = format!(
                    "POST /api/functions/{file}/spin HTTP/1.1\r\nhost: {}\r\ncontent-length: 0\r\n\r\n",
                    server.address()
                );
                let server = &server;
                scope.spawn(move || server.raw(request.as_bytes()))
            })
            .into();
        server.until(|server| {
            let busy = |file: &str| server.get(&format!("/api/functions/{file}")).json()["workers"]["busy"] == 1;
            busy("py") && busy("r")
        });
        let pid = server.pid().to_string();
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        assert!(spinning.into_iter().all(|caller| caller.join().unwrap().is_empty()));
    });
    server.child().wait().unwrap();
    server.until(|_| groups.iter().all(|group| members(group) == 0));
}
