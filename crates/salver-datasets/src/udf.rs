//! User functions in SQL: resolves each function call of a statement to a function of a file and registers that with
//! the session as a scalar function.
//!
//! Names are resolved when a statement is prepared, against the interface that each file has at that moment. The
//! engine's own functions take precedence.

mod scalar_function;
mod signature;

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::ScalarUDF;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Statement, VisitMut, VisitorMut, visit_expressions,
};
use futures::StreamExt;
use salver_model::functions::Interface;
use salver_model::ports::Functions;
use salver_model::{Batches, Code, Error, Result, suggest};
use tokio::sync::watch;

use self::scalar_function::Called;
use self::signature::SqlSignature;
use crate::fault;

/// The files whose functions statements may call.
pub(crate) type Files = Arc<[Arc<dyn Functions>]>;

/// The user functions that a statement calls. Dropping this cancels the calls that are running.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Sender whose receivers are the registered functions; `None` if the statement calls none.
    alive: Option<watch::Sender<()>>,
    /// The first unknown name, and the hint for it.
    unknown: Option<(String, Option<String>)>,
}

impl Calls {
    /// Returns whether the statement calls user functions.
    pub(crate) fn are_there(&self) -> bool {
        self.alive.is_some()
    }

    /// Adds the hint for an unknown function to a planning error; the planner knows only the engine's own functions.
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if let Some((name, Some(hint))) = &self.unknown
            && error.message.starts_with(&format!("Invalid function '{name}'"))
        {
            error.hint = Some(hint.clone());
        }
        error
    }

    /// Ties the calls to the rows: they are cancelled when the stream is dropped.
    pub(crate) fn hold(self, batches: Batches) -> Batches {
        match (self.alive, batches) {
            (Some(alive), Batches::Stream(rows)) => Batches::Stream(Box::pin(rows.map(move |batch| {
                let _ = &alive;
                batch
            }))),
            (_, batches) => batches,
        }
    }
}

/// Registers the functions of `files` that the statement calls with the session.
///
/// # Errors
/// `InvalidSql` for an ambiguous name or a function that can't be called in SQL; `MethodNotAllowed` for a function that
/// may have side effects, if the statement has to be safe (RFC 9110, section 9.2.1).
pub(crate) fn register(
    statement: &mut Statement,
    state: &mut SessionState,
    files: &Files,
    is_safe: bool,
) -> Result<Calls> {
    let mut calls = Calls { alive: None, unknown: None };
    if files.is_empty() {
        return Ok(calls);
    }
    match VisitMut::visit(statement, &mut Registrar { files, state, is_safe, calls: &mut calls }) {
        ControlFlow::Continue(()) => Ok(calls),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// Returns whether the statement calls functions that the engine itself does not have.
pub(crate) fn are_in(statement: &Statement, state: &SessionState) -> bool {
    let found = visit_expressions(statement, |expr| match expr {
        Expr::Function(function) => match function.name.0.as_slice() {
            [ObjectNamePart::Identifier(only)] if is_own(state, only) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        },
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

struct Registrar<'a> {
    files: &'a Files,
    state: &'a mut SessionState,
    is_safe: bool,
    calls: &'a mut Calls,
}

impl VisitorMut for Registrar<'_> {
    type Break = Box<Error>;

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        match self.meant(&function.name) {
            Ok(Some(name)) => function.name = ObjectName::from(vec![Ident::with_quote('"', name)]),
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(Box::new(error)),
        }
        ControlFlow::Continue(())
    }
}

impl Registrar<'_> {
    /// Registers the function that `name` refers to and returns its name in the session; `None` if no file has it.
    fn meant(&mut self, name: &ObjectName) -> Result<Option<String>> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        if parts.len() < name.0.len() || matches!(parts[..], [only] if is_own(self.state, only)) {
            return Ok(None);
        }
        let written = parts.iter().map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        if self.calls.are_there() && self.state.scalar_functions().contains_key(&written) {
            return Ok(Some(written));
        }
        let quoted = parts.iter().any(|part| part.quote_style.is_some());
        let mut found = find(self.files, |name| name == written);
        if found.is_empty() && !quoted {
            found = find(self.files, |name| name.eq_ignore_ascii_case(&written));
        }
        let Some(first) = found.first() else {
            let said = if parts.len() == 1 && !quoted { written.to_lowercase() } else { written };
            let hint = unknown(self.files, &said);
            self.calls.unknown.get_or_insert((said, hint));
            return Ok(None);
        };
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|found| format!("`{}`", found.full_name())).collect();
            return Err(Error::new(Code::InvalidSql, format!("`{written}` may be {}", names.join(" or ")))
                .with_hint("write the file's name before the function's, as here"));
        }
        if self.is_safe && !first.is_safe() {
            let message = format!("`{written}` may change something, so that GET does not call it");
            return Err(Error::new(Code::MethodNotAllowed, message)
                .with_hint("send the statement by POST, or say `@pure` of the function where that is so"));
        }
        let shape = SqlSignature::of(&first.interface.endpoints[first.endpoint]).map_err(|why| {
            Error::new(Code::InvalidSql, format!("`{written}` can't be called in SQL: {why}"))
                .with_hint("what stands in SQL takes plain values and gives one")
        })?;
        let alive = self.calls.alive.get_or_insert_with(|| watch::channel(()).0).subscribe();
        let called = ScalarUDF::new_from_impl(Called::new(written.clone(), first, shape, alive));
        self.state.register_udf(Arc::new(called)).map_err(fault::planning)?;
        Ok(Some(written))
    }
}

/// Returns whether a function is of a file, whatever it is called.
pub(crate) fn is_of_file(function: &ScalarUDF) -> bool {
    function.inner().is::<Called>()
}

/// Returns whether the engine itself has a function of this name.
fn is_own(state: &SessionState, name: &Ident) -> bool {
    let name = if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() };
    state.scalar_functions().get(&name).is_some_and(|function| !is_of_file(function))
        || state.aggregate_functions().contains_key(&name)
        || state.window_functions().contains_key(&name)
}

/// A function, by its file and its endpoint in the file's interface.
struct FunctionEndpoint<'a> {
    file: &'a Arc<dyn Functions>,
    interface: Arc<Interface>,
    endpoint: usize,
}

impl FunctionEndpoint<'_> {
    fn function(&self) -> &str {
        &self.interface.endpoints[self.endpoint].function
    }

    /// Returns whether GET may call it: it is pure, or has a route for GET.
    fn is_safe(&self) -> bool {
        let mut own = self.interface.endpoints.iter().filter(|offered| offered.function == self.function());
        let is_get = |route: &(String, String)| matches!(route.0.as_str(), "GET" | "*");
        own.any(|offered| offered.pure || offered.route.as_ref().is_some_and(is_get))
    }

    fn full_name(&self) -> String {
        format!("{}.{}", self.file.spec().name, self.function())
    }
}

/// Returns the functions whose name or qualified name (`file.function`) satisfies `is_meant`.
fn find(files: &Files, is_meant: impl Fn(&str) -> bool) -> Vec<FunctionEndpoint<'_>> {
    let mut found = Vec::new();
    for file in files.iter() {
        let Ok(interface) = file.interface() else { continue };
        if interface.application {
            continue;
        }
        // A function with several routes has several endpoints.
        let mut seen: Vec<&str> = Vec::new();
        for (endpoint, offered) in interface.endpoints.iter().enumerate() {
            let function = offered.function.as_str();
            if function.is_empty() || seen.contains(&function) {
                continue;
            }
            seen.push(function);
            if is_meant(function) || is_meant(&format!("{}.{function}", file.spec().name)) {
                found.push(FunctionEndpoint { file, interface: Arc::clone(&interface), endpoint });
            }
        }
    }
    found
}

/// Returns the hint for an unknown function: a file that is unavailable may have it, or a similar name exists.
fn unknown(files: &Files, name: &str) -> Option<String> {
    let missing = files.iter().find(|file| file.interface().is_err());
    if let Some(error) = missing.and_then(|file| file.interface().err()) {
        return Some(format!("it may be in a file that is not there now: {}", error.message));
    }
    let qualified = name.contains('.');
    let all = find(files, |_| true);
    let names: Vec<String> =
        all.iter().map(|found| if qualified { found.full_name() } else { found.function().to_owned() }).collect();
    let near = suggest::nearest(name, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{near}`?"))
}
