//! What `[[function]]` means: defaults, names, and mistakes word for word.

use salver_config::{Sources, load};
use salver_model::Name;
use salver_model::functions::Language;
use salver_model::spec::{FunctionSpec, SandboxLevel, SandboxSpec};

use crate::{Written, told};

#[test]
fn a_file_is_enough() {
    for (file, language) in [("fib.R", Language::R), ("fib.r", Language::R), ("fib.py", Language::Python)] {
        let written = Written::new(&format!("[[function]]\nfile = '{file}'\n"));
        let (checked, warnings) = load(&written.sources()).unwrap();
        assert_eq!(warnings, []);
        let plain = FunctionSpec::new(Name::new("fib").unwrap(), written.path().join(file), language);
        assert_eq!(checked.functions, [plain]);
    }
}

#[test]
fn a_file_on_the_command_line() {
    let given = vec!["maths=code/fib.R,workers=3,path=/maths".to_owned()];
    let (checked, _) = load(&Sources { datasets: given, ..Sources::default() }).unwrap();
    let [function] = checked.functions.as_slice() else { panic!("{:?}", checked.functions) };
    assert_eq!((function.name.as_str(), function.workers_max, function.path.as_str()), ("maths", 3, "/maths"));
    assert!(checked.datasets.is_empty());
}

#[test]
fn a_sandbox() {
    let text = "[[function]]\nfile = 'fib.R'\nsandbox = 'strict'\nrun_as = 'nobody'\nnetwork = false\n\
        open_files_max = 64\nprocesses_max = 50\nworkers = 4\n";
    let (checked, _) = load(&Written::new(text).sources()).unwrap();
    let expected = SandboxSpec {
        level: SandboxLevel::Strict,
        run_as: Some("nobody".to_owned()),
        network: false,
        open_files_max: Some(64),
        processes_max: Some(50),
    };
    assert_eq!(checked.functions[0].sandbox, expected);
    let shown = salver_config::show(&checked);
    for line in ["sandbox = \"strict\"", "run_as = \"nobody\"", "network = false", "processes_max = 50"] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
}

#[test]
fn mistakes() {
    for (settings, expected) in [
        ("", "[[function]] has no `file`"),
        ("file = 'fib.sh'", "`fib.sh` is neither R nor Python by its name"),
        ("file = 'fib.R'\npath = 'maths'", "`maths` is not the beginning of a path"),
        ("file = 'fib.R'\nworkers = 2\njob_workers = 3", "`job_workers` is more than `workers`, 2"),
        ("file = 'fib.R'\nworkers = 1\nworkers_min = 2", "`workers_min` is more than `workers`, 1"),
        ("file = 'fib.R'\nworkers = 4\nprocesses_max = 4", "`processes_max` is not more than `workers`, 4"),
        ("file = 'fib.R'\nsandbox = 'tight'", "sandbox"),
        ("file = 'fib.R'\nsandbox = 'off'\nnetwork = false", "`network` needs a sandbox"),
        ("file = 'fib.R'\nsandbox = 'off'\nprocesses_max = 99", "`processes_max` needs a sandbox"),
        ("file = 'fib.R'\nrun_as = '--all'", "`--all` is not the name of a user"),
        ("file = 'fib.R'\nrun_as = 'a:b'", "`a:b` is not the name of a user"),
        ("file = 'fib.R'\n[[function]]\nfile = 'fib.py'", "there are two files of functions called `fib`"),
    ] {
        let said = told(&format!("[[function]]\n{settings}\n"));
        assert!(said.contains(expected), "{settings}: {said}");
    }
}
