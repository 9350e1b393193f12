//! Lists the built files of `assets`, so that they become part of the program.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("assets");
    let mut found = Vec::new();
    list(&root, "", &mut found)?;
    found.sort();
    let mut text = "const FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for name in found {
        // The compiler says where the crate is: clones at other places share what this writes.
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?})", format!("/assets/{name}"));
        let _ = writeln!(text, "    ({name:?}, include_bytes!({path})),");
    }
    text.push_str("];\n");
    let out = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("files.rs");
    println!("cargo::rerun-if-changed=assets");
    fs::write(out, text)
}

/// Adds the files of a directory, by their path below the root.
fn list(directory: &Path, prefix: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.push(name);
        }
    }
    Ok(())
}
