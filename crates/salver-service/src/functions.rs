//! Calls of user code.

use std::sync::Arc;

use salver_model::functions::{Answer, Call, Interface, Workers};
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::trace::SpanKind;
use salver_model::{Caller, Code, Error, Permission, Result};

use crate::{access, trace};

/// Field of a call with the span that it is a part of (<https://www.w3.org/TR/trace-context/>).
const TRACE_PARENT: &str = "traceparent";
/// Field of a call with what other systems say of its trace.
const TRACE_STATE: &str = "tracestate";

/// A file of functions that is served.
#[derive(Clone, Debug)]
pub struct FunctionFile(Arc<dyn Functions>);

impl FunctionFile {
    pub(crate) fn new(functions: Arc<dyn Functions>) -> Self {
        Self(functions)
    }

    /// Returns the file's declaration.
    #[must_use]
    pub fn spec(&self) -> &FunctionSpec {
        self.0.spec()
    }

    /// Returns the current interface of the file, see [`Functions::interface`].
    ///
    /// # Errors
    /// Returns `EntryUnavailable` while it could not be loaded.
    pub fn interface(&self) -> Result<Arc<Interface>> {
        self.0.interface()
    }

    /// Returns the reason why the current file cannot be served; `None` without a fault.
    #[must_use]
    pub fn fault(&self) -> Option<Error> {
        self.0.fault()
    }

    /// Waits for the next change of the interface or the fault, see [`Functions::changed`].
    pub async fn changed(&self, seen: u64) -> u64 {
        self.0.changed(seen).await
    }

    /// Returns whether the file was neither loaded yet nor found to be faulty.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.0.interface().is_err() && self.0.fault().is_none()
    }

    /// Returns the state of its workers.
    #[must_use]
    pub fn workers(&self) -> Workers {
        self.0.workers()
    }

    /// Checks that `caller` may call the functions of the file.
    ///
    /// # Errors
    /// Returns `Forbidden`; `NotFound` for a caller that must not know of it.
    pub fn check(&self, caller: &Caller) -> Result<()> {
        let name = self.spec().name.as_str();
        let absent = || Error::new(Code::NotFound, format!("there is no file of functions called `{name}`"));
        access::check(caller, Permission::Call, name, absent)
    }

    /// Runs one call; its worker is charged to `caller`.
    ///
    /// # Errors
    /// Returns the errors of [`FunctionFile::check`] and of [`Functions::call`].
    pub async fn call(&self, caller: &Caller, call: Call) -> Result<Answer> {
        self.check(caller)?;
        self.hook(caller, call).await
    }

    /// Runs a call that the server makes by itself while it answers `caller`, who need not be able to make it.
    ///
    /// # Errors
    /// Returns the errors of [`Functions::call`].
    pub async fn hook(&self, caller: &Caller, call: Call) -> Result<Answer> {
        let mut call = Call { holder: Some(caller.holder()), ..call };
        let mut span = trace::begin("function call", SpanKind::Client);
        if let Some(span) = &mut span {
            self.tell(span, &mut call);
        }
        trace::within(span, self.0.call(call)).await
    }

    /// Tells the span what is called, and the callee, if it sees the header fields of the request, of the span.
    fn tell(&self, span: &mut trace::ActiveSpan, call: &mut Call) {
        span.set("salver.entry", self.spec().name.to_string());
        let endpoint = call.endpoint.and_then(|index| call.interface.as_ref()?.endpoints.get(index));
        if let Some(endpoint) = endpoint {
            span.set("code.function.name", endpoint.function.clone());
        }
        let sees_headers = call.endpoint.is_none() || endpoint.is_some_and(|endpoint| endpoint.takes_request);
        if let Some(context) = span.context().filter(|_| sees_headers) {
            // What a client said of another trace, or of none, does not belong to this one.
            let is_of_trace = |name: &str| [TRACE_PARENT, TRACE_STATE].iter().any(|own| name.eq_ignore_ascii_case(own));
            call.headers.retain(|(name, _)| !is_of_trace(name));
            call.headers.push((TRACE_PARENT.to_owned(), context.to_string()));
            call.headers.extend(context.state.iter().map(|state| (TRACE_STATE.to_owned(), state.to_string())));
        }
    }
}
