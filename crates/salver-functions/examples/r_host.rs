//! The host of R as a program of its own, for tests: its arguments are the file and the socket.

use std::process::ExitCode;

fn main() -> ExitCode {
    salver_functions::host::run_r(std::env::args_os().skip(1))
}
