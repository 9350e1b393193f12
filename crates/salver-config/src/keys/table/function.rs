//! The settings of files of functions.

use super::{new_row, row};
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    row(Section::Function, "name", SettingKind::Text, ["", r#""fib""#],
        "The name its functions are found under, in `/api/functions/NAME/FUNCTION`; the file's name when not given.",
        &[]),
    row(Section::Function, "file", SettingKind::Location, ["", r#""functions/fib.R""#],
        "The file, whose name ends in `.R` or `.py`. Relative paths start at this file's directory. Required.",
        &["source", "script"]),
    row(Section::Function, "path", SettingKind::Text, [r#""/""#, r#""/maths""#],
        "Where the routes that the file declares begin.",
        &["mount", "prefix", "base_path"]),
    row(Section::Function, "interpreter", SettingKind::Location, ["", r#""/opt/venv/bin/python""#],
        "The program that runs it: `python3`, or `R`, of which the library is used. Without it, what is found in the \
            search path.",
        &["python", "r_home"]),
    row(Section::Function, "workers", SettingKind::Count(0), ["0", "4"],
        "Most processes, each with one call at a time; 0 is one for each processor, and at least two.",
        &["workers_max"]),
    row(Section::Function, "workers_min", SettingKind::Count(0), ["1", "2"],
        "Processes that are kept ready. They are forked from one that has loaded the file, and share its memory.",
        &[]),
    row(Section::Function, "waiting_max", SettingKind::Count(0), ["1024", "100"],
        "Most calls that wait for a process; more are told to come again (503).",
        &["queue"]),
    row(Section::Function, "wait", SettingKind::Milliseconds, [r#""10s""#, r#""1s""#],
        "Longest wait of a call for a process; then it is told to come again (503).",
        &[]),
    row(Section::Function, "timeout", SettingKind::Milliseconds, [r#""30s""#, r#""5m""#],
        "Longest run of a call; then its process is ended (504). 0 is no bound.",
        &["deadline"]),
    row(Section::Function, "job_workers", SettingKind::Count(0), ["0", "2"],
        "Most processes that jobs (`Prefer: respond-async`) may have at once; more jobs wait. 0 is one less than \
            `workers`, so that other calls always find one, and at least one.",
        &[]),
    row(Section::Function, "job_timeout", SettingKind::Milliseconds, [r#""1h""#, r#""6h""#],
        "Longest run of a job; then its process is ended. 0 is no bound.",
        &[]),
    row(Section::Function, "memory_bytes_max", SettingKind::Bytes, [r#""2GiB""#, r#""512MiB""#],
        "Most memory a process may take beyond what it has when the file is loaded. 0 is no bound.",
        &["memory"]),
    row(Section::Function, "calls_max", SettingKind::Count(0), ["0", "10000"],
        "After how many calls a process is replaced by a new one; 0 is never.",
        &["max_requests"]),
    row(Section::Function, "environment", SettingKind::Pairs, ["", r#"{ "MODEL" = "/srv/model.rds" }"#],
        "Variables of its environment, besides those it has of the server's own.",
        &["env"]),
    row(Section::Function, "inherit_environment", SettingKind::Texts, ["[]", r#"["AWS_*", "MODEL_DIR"]"#],
        "Which variables of the server's environment its processes get, with `*` for any part, beside those that \
            programs are found and set up by: `PATH`, `HOME`, `LANG`, `LC_*`, `TZ`, `TMPDIR`, `R_*`, `PYTHON*` and the \
            like. None of the server's own settings, `SALVER_*`, is ever among them.",
        &["env_names"]),
    new_row(Section::Function, "sandbox", SettingKind::Choice(&["off", "basic", "strict"]),
        [r#""basic""#, r#""strict""#],
        "How far its code is kept from the machine. `basic` does what breaks no ordinary program: it can't gain \
            privileges (by `sudo`, say), and leaves no core dumps. `strict` gives it a user namespace of its own \
            besides, without capabilities, from which it can't read the memory and the environment of the server and \
            of other processes; Linux, with user namespaces. `off` leaves it what the server may do.",
        &["isolation"]),
    new_row(Section::Function, "run_as", SettingKind::Text, ["", r#""nobody""#],
        "The user its processes run as, with that user's main group and no other. Only a server that runs as root can \
            do that. The user must be able to read the file, and to run R or Python.",
        &["user"]),
    new_row(Section::Function, "network", SettingKind::Bool, ["true", "false"],
        "Whether its code has a network. Without, it reaches nothing by TCP or UDP, this machine's services included; \
            Linux, with user namespaces or a server that runs as root.",
        &[]),
    new_row(Section::Function, "open_files_max", SettingKind::Count(0), ["0", "256"],
        "Most files and connections that each of its processes may have open; 0 is as many as the server.",
        &["nofile"]),
    new_row(Section::Function, "processes_max", SettingKind::Count(0), ["0", "64"],
        "Most processes and threads that it may have, those that serve it included; 0 is no bound. It needs user \
            namespaces, and `run_as` if the server runs as root.",
        &["nproc"]),
];
