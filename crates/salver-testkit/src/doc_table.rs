//! Tables of the documentation that tests make: compared with the page, or with `UPDATE=1` written into it.

use std::fs;
use std::path::Path;

const END: &str = "\n<!-- /types -->\n";

/// That the page `name` of `docs/` has `table` between the comment that names `test` and the one that ends the table.
///
/// # Panics
///
/// When the page has no such table, another one, or can't be read or written.
pub fn has_table(name: &str, test: &str, table: &str) {
    let begin = format!("<!-- types: made by the test `{test}` -->\n\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let page = fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(&begin).expect("the table begins");
    let (told, behind) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, format!("{before}{begin}{table}{END}{behind}")).expect("written");
        return;
    }
    assert_eq!(told, table, "run the test with UPDATE=1 to write the page anew");
}
