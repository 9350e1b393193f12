//! Places the functions that small requests run through side by side in the program, where the linker can: see
//! `bench/order.py`.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=hot_functions.ld");
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    // Not every other linker takes a script beside its own layout, so whoever chooses one goes without.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let has_own_linker = flags.contains("fuse-ld") || flags.contains("linker");
    // Names of functions that are not there are no error, and in a development build nobody measures.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") && !has_own_linker {
        // Clones at other places share the build's output, and this one may be gone when the next is linked.
        let script = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("hot_functions.ld");
        fs::copy("hot_functions.ld", &script)?;
        println!("cargo::rustc-link-arg-bin=salver=-Wl,-T,{}", script.display());
    }
    Ok(())
}
