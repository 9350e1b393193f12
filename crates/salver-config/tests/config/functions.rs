//! What `[[function]]` means: defaults, names, and mistakes word for word.

use salver_config::{Sources, load};
use salver_model::Name;
use salver_model::functions::Language;
use salver_model::spec::FunctionSpec;

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
fn mistakes() {
    for (settings, expected) in [
        ("", "[[function]] has no `file`"),
        ("file = 'fib.sh'", "`fib.sh` is neither R nor Python by its name"),
        ("file = 'fib.R'\npath = 'maths'", "`maths` is not the beginning of a path"),
        ("file = 'fib.R'\nworkers = 2\njob_workers = 3", "`job_workers` is more than `workers`, 2"),
        ("file = 'fib.R'\nworkers = 1\nworkers_min = 2", "`workers_min` is more than `workers`, 1"),
        ("file = 'fib.R'\n[[function]]\nfile = 'fib.py'", "there are two files of functions called `fib`"),
    ] {
        let said = told(&format!("[[function]]\n{settings}\n"));
        assert!(said.contains(expected), "{settings}: {said}");
    }
}
