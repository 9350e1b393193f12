//! The environment of user code's processes: variables that programs commonly need, and those named in the settings.
//! Everything else, such as settings in the server's environment, is hidden from user code and its libraries.

use std::ffi::OsStr;

use salver_model::spec::matches_pattern;
use tokio::process::Command;

/// Variables that are passed on. `*` matches any part.
const PASSED: [&str; 35] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TZDIR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "LD_LIBRARY_PATH",
    "DYLD_*",
    "R_*",
    "RENV_*",
    "PLUMBER_*",
    "PYTHON*",
    "PYENV_*",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "JAVA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "OMP_*",
    "OPENBLAS_*",
    "MKL_*",
    "CUDA_VISIBLE_DEVICES",
    "ASAN_OPTIONS",
];
/// The server's own settings in its environment, and what the service manager says to it alone. They are never passed
/// on.
const OWN: [&str; 7] =
    ["SALVER_*", "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC"];

/// Passes the common variables of the server's environment to `command`, and those that `inherited` names.
pub(crate) fn keep(command: &mut Command, inherited: &[String]) {
    command.env_clear();
    command.envs(std::env::vars_os().filter(|(name, _)| is_passed(name, inherited)));
}

fn is_passed(name: &OsStr, inherited: &[String]) -> bool {
    let Some(name) = name.to_str() else { return false };
    let mut patterns = PASSED.into_iter().chain(inherited.iter().map(String::as_str));
    let is_own = OWN.into_iter().any(|pattern| matches_pattern(pattern, name));
    !is_own && patterns.any(|pattern| matches_pattern(pattern, name))
}

/// Returns the variables among `names` that a process would get, for tests.
#[cfg(test)]
fn passed<'n>(names: &[&'n str], inherited: &[&str]) -> Vec<&'n str> {
    let inherited: Vec<String> = inherited.iter().map(|name| (*name).to_owned()).collect();
    names.iter().copied().filter(|name| is_passed(OsStr::new(name), &inherited)).collect()
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn what_is_passed_on() {
        let names = [
            "PATH",
            "LC_ALL",
            "R_LIBS",
            "PYTHONPATH",
            "PLUMBER_SHAREDSECRET",
            "AWS_SECRET",
            "SALVER_AUTH_API_KEYS",
            "DATABASE_URL",
            "NOTIFY_SOCKET",
            "LISTEN_FDS",
            "WATCHDOG_USEC",
        ];
        assert_eq!(passed(&names, &[]), names[..5]);
        assert_eq!(passed(&names[5..], &["AWS_*", "SALVER_*", "*"]), ["AWS_SECRET", "DATABASE_URL"]);
    }
}
