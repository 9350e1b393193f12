//! Loads the runtime's R sources, which provide the functions that answer calls.

use std::ffi::CStr;
use std::path::Path;

use super::session::{RSession, Raised};
use super::value::{Preserved, RValueKind, Value};

/// Expression that returns the functions; see the file.
const START: &CStr = match CStr::from_bytes_with_nul(concat!("(", include_str!("start.R"), ")\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => panic!("start.R has a zero byte"),
};

/// Lists files with their texts.
macro_rules! sources {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../r/", $name)))),*] };
}

/// Sources of the runtime, in the order of evaluation: that of their names.
const SOURCES: &[(&str, &str)] = sources![
    "00-json.R",
    "04-package.R",
    "05-text.R",
    "10-functions.R",
    "11-columns.R",
    "12-annotations.R",
    "13-serializers.R",
    "14-files.R",
    "20-restrserve.R",
    "21-forms.R",
    "22-response.R",
    "23-errors.R",
    "24-content.R",
    "25-router.R",
    "26-application.R",
    "27-auth.R",
    "28-etag.R",
    "29-backend.R",
    "30-plumber.R",
    "31-rook.R",
    "32-rserve.R",
    "90-entry.R",
];

/// Names of the parts of a request list.
pub(super) const REQUEST: [&str; 6] = ["method", "path", "query", "headers", "body", "address"];

/// Functions of the runtime that the host calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runtime {
    /// Loads a file: takes a path, and returns the offer as the text of a JSON object; or a list of the reason why the
    /// file is refused.
    pub(super) load: Preserved,
    /// Returns the function that answers calls of an application made of the runtime's own classes.
    own_application: Preserved,
    /// Answers a call of any other application.
    pub(super) call_application: Preserved,
    /// Answers a call of an endpoint.
    pub(super) call_function: Preserved,
    /// Calls an endpoint over columns.
    pub(super) call_columns: Preserved,
    /// Seeds a worker's random numbers.
    pub(super) seed: Preserved,
    /// Clears the text of the last error.
    pub(super) forget: Preserved,
    /// Names of a request's parts.
    pub(super) request_names: Preserved,
    /// List with room for the headers a worker has seen last.
    pub(super) seen: Preserved,
}

/// Name of the file with the compiled runtime.
const KEPT: &str = "runtime.rds";

/// Evaluates the runtime. If there is a directory private to the server, the compiled runtime is cached there.
///
/// # Errors
/// Returns the error that R raised.
pub(super) fn start(session: &RSession, private: Option<&Path>) -> Result<Runtime, Raised> {
    let kept = private.and_then(|directory| directory.join(KEPT).into_os_string().into_string().ok());
    let mut starting = (kept.unwrap_or_default(), None);
    session.enter(&mut starting, |inside, (kept, runtime)| {
        let start = inside.evaluate(START);
        let sources = inside.texts(SOURCES.len(), SOURCES.iter().map(|(_, text)| *text));
        let functions = inside.call(start, &[sources, inside.text(kept)])?;
        let function = |index| inside.for_ever(inside.element(functions, index));
        *runtime = Some(Runtime {
            load: function(0),
            own_application: function(1),
            call_application: function(2),
            call_function: function(3),
            call_columns: function(4),
            seed: function(5),
            forget: function(6),
            request_names: inside.for_ever(inside.texts(REQUEST.len(), REQUEST.iter().copied())),
            seen: inside.for_ever(inside.vector(RValueKind::List, 1)),
        });
        Some(())
    })?;
    starting.1.ok_or_else(|| Raised("the runtime gave no functions".to_owned()))
}

/// Argument and result of `load`.
struct LoadContext<'a> {
    load: Preserved,
    file: &'a str,
    loaded: Option<Loaded>,
}

/// What became of a file.
pub(super) enum Loaded {
    /// The text of its offer.
    Offer(String),
    /// The reason why it must not be served.
    Refused(String),
}

/// Loads the file.
///
/// # Errors
/// Returns the error that R raised.
pub(super) fn load(session: &RSession, runtime: Runtime, file: &str) -> Result<Loaded, Raised> {
    let mut loading = LoadContext { load: runtime.load, file, loaded: None };
    session.enter(&mut loading, |inside, loading| {
        let given = inside.call(Value::of(loading.load), &[inside.text(loading.file)])?;
        let is_refused = inside.kind(given) == RValueKind::List && inside.length(given) == 1;
        let text = if is_refused { inside.element(given, 0) } else { given };
        if inside.kind(text) == RValueKind::Text && inside.length(text) == 1 {
            let make = if is_refused { Loaded::Refused } else { Loaded::Offer };
            let loaded = &mut loading.loaded;
            inside.with_string(text, 0, |bytes| *loaded = Some(make(String::from_utf8_lossy(bytes).into_owned())));
        }
        Some(())
    })?;
    loading.loaded.ok_or_else(|| Raised("loading the file gave no text".to_owned()))
}

/// Returns the function that answers calls of the loaded application, if it is made of the runtime's own classes. It
/// takes the method, the unescaped path, the query as a list, the headers and the body.
pub(super) fn own_application(session: &RSession, runtime: Runtime) -> Option<Preserved> {
    let mut asking = (runtime, None);
    // It only returns an existing value.
    let _ = session.enter(&mut asking, |inside, (runtime, own)| {
        let found = inside.call(Value::of(runtime.own_application), &[])?;
        *own = (inside.kind(found) != RValueKind::Null).then(|| inside.for_ever(found));
        Some(())
    });
    asking.1
}

/// Prepares the memory for forks: unused objects are collected before they are copied.
pub(super) fn settle(session: &RSession) {
    // Nothing is raised, and an error would change nothing.
    let _ = session.enter(&mut (), |inside, ()| {
        inside.collect();
        Some(())
    });
}

/// Seeds a new worker's random numbers.
pub(super) fn seed(session: &RSession, runtime: Runtime) {
    let mut seed = runtime.seed;
    // A worker without its own seed is still usable.
    let _ = session.enter(&mut seed, |inside, seed| inside.call(Value::of(*seed), &[]).map(|_| ()));
}

/// Clears the last error message, so that it is not reported for a later jump without a message.
pub(super) fn forget(session: &RSession, runtime: Runtime) {
    let mut forget = runtime.forget;
    // It only stores a text.
    let _ = session.enter(&mut forget, |inside, forget| inside.call(Value::of(*forget), &[]).map(|_| ()));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::SOURCES;

    #[test]
    fn every_source_is_listed_in_order() {
        let mut there = Vec::new();
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("r")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            there.extend(name.ends_with(".R").then_some(name));
        }
        there.sort();
        assert_eq!(SOURCES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), there);
    }
}
