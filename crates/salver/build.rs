//! Places the functions that small requests run through side by side in the program, where the linker can: see
//! `bench/order.py`.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=hot_functions.ld");
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    // Names of functions that are not there are no error, and in a development build nobody measures.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") {
        let directory = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bin=salver=-Wl,-T,{directory}/hot_functions.ld");
    }
}
