//! Lists the built files of `assets`, so that they become part of the program, and compresses them: done for the first
//! browser that asks, this would be a tenth of the time until it shows something.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("assets");
    let out = env::var("OUT_DIR").unwrap_or_default();
    let out = Path::new(&out);
    let mut found = Vec::new();
    list(&root, "", &mut found)?;
    found.sort();
    let mut text = "const FILES: &[(&str, &[u8], &[u8])] = &[\n".to_owned();
    for (number, name) in found.into_iter().enumerate() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&fs::read(root.join(&name))?)?;
        fs::write(out.join(format!("{number}.gz")), packed.finish()?)?;
        let packed = format!("concat!(env!(\"OUT_DIR\"), \"/{number}.gz\")");
        // The compiler says where the crate is: clones at other places share what this writes.
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?})", format!("/assets/{name}"));
        let _ = writeln!(text, "    ({name:?}, include_bytes!({path}), include_bytes!({packed})),");
    }
    text.push_str("];\n");
    println!("cargo::rerun-if-changed=assets");
    fs::write(out.join("files.rs"), text)
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
