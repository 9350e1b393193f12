//! The life of a request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ahash::AHashMap;
use apollo_compiler::ast::{Definition, Document, OperationType};
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::Parser;
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::{ExecutionResponse, JsonMap};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name as GraphqlName, introspection};
use salver_formats::Nulls;
use salver_model::limits::{GRAPHQL_NESTING_MAX, GRAPHQL_TOKENS_MAX};
use salver_model::{Caller, Code, Error, Name, Result, Rows, Version};
use salver_service::{CallerQueries, Service, Snapshot};

use crate::graphql::answer as document_of;
use crate::graphql::bounds::{self};
use crate::graphql::budget::{CancelOnDrop, DocumentBudget};
use crate::graphql::failure::Problem;
use crate::graphql::graph::Graph;
use crate::graphql::input::Arguments;
use crate::graphql::level::Compiler;
use crate::graphql::mutation::Mutation;
use crate::graphql::plan::{DocumentPlan, Work};
use crate::graphql::request::Request;
use crate::graphql::roapi_rows;
use crate::graphql::roapi_shorthand;
use crate::graphql::run::Runner;
use crate::graphql::schema_cache::{Compiled, Graphql};
use crate::graphql::variables::Variables;

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// ROAPI's form: bare rows, for any format.
    Rows(Rows),
    /// The standard form.
    Document {
        /// Result as JSON.
        body: Vec<u8>,
        /// Entries that the result was made from.
        read: Vec<(Name, Version)>,
        /// Whether the same request over the same versions returns the same bytes.
        repeatable: bool,
        /// Reason why the document was refused before anything ran.
        refused: Option<Code>,
        /// Whether a mutation failed for a transient reason and may be retried.
        passing: bool,
    },
}

/// Answers `request`. In ROAPI's form a document that can't be run is an `Err`, in the standard's it is a document of
/// errors. The standard can't omit nulls, so `nulls` only applies to the format of the rows.
///
/// # Errors
/// Any error in a document in ROAPI's form; internal errors.
pub(crate) async fn answer(
    door: &Graphql,
    service: &Service,
    (snapshot, queries): (&Arc<Snapshot>, &CallerQueries),
    request: &Request,
    _nulls: Nulls,
) -> Result<Answer> {
    let bound = request.caller.limits.query_ms(service.limits().query_ms_max);
    let done = AtomicBool::new(false);
    let work = run(door, service, (snapshot, queries), request, &done);
    let answered = tokio::time::timeout(Duration::from_millis(bound.value()), work).await;
    let broken_off = match answered {
        Ok(Ok(answer)) => return answer,
        Ok(Err(Broken(error))) => error,
        Err(_) => bound
            .refuse(Code::Timeout, format!("the document ran longer than {} ms", bound.value()))
            .with_hint(format!("ask for less at once, or raise {}", bound.setting())),
    };
    if request.raw {
        return Err(broken_off);
    }
    let body = document_of::broken_off(&broken_off);
    let passing = !done.load(Ordering::Relaxed);
    Ok(Answer::Document { body, read: Vec::new(), repeatable: false, refused: None, passing })
}

/// Returns whether the operation that `request` runs is a mutation.
pub(crate) fn is_mutation(request: &Request) -> bool {
    let mut parser = Parser::new().recursion_limit(GRAPHQL_NESTING_MAX).token_limit(GRAPHQL_TOKENS_MAX);
    let Ok(document) = parser.parse_ast(request.document.as_str(), "document.graphql") else { return false };
    document.definitions.iter().any(|definition| match definition {
        Definition::OperationDefinition(operation) => {
            let name = operation.name.as_ref().map(GraphqlName::as_str);
            let runs = request.operation.is_none() || request.operation.as_deref() == name;
            runs && operation.operation_type == OperationType::Mutation
        }
        _ => false,
    })
}

/// The error of a document that exceeded its budget as a whole.
struct Broken(Error);

async fn run(
    door: &Graphql,
    service: &Service,
    (snapshot, queries): (&Arc<Snapshot>, &CallerQueries),
    request: &Request,
    changed: &AtomicBool,
) -> Result<Result<Answer>, Broken> {
    let compiled = match door.compiled(service, &request.caller, (snapshot, queries)).await {
        Ok(compiled) => compiled,
        Err(error) => return Ok(Err(error)),
    };
    let prepared = match prepare(&compiled, snapshot, request) {
        Ok(prepared) => prepared,
        Err(mut problems) if request.raw && !problems.is_empty() => {
            return Ok(Err(problems.swap_remove(0).into_error()));
        }
        Err(problems) => {
            let body = document_of::refused(&problems);
            let refused = Some(problems.first().map_or(Code::InvalidGraphql, |problem| problem.code));
            let read = Vec::new();
            return Ok(Ok(Answer::Document { body, read, repeatable: false, refused, passing: false }));
        }
    };
    let budget = Arc::new(DocumentBudget::new(service.limits(), request.caller.limits));
    let _waiting = CancelOnDrop(Arc::clone(&budget));
    let (caller, graph, whole) = (&request.caller, &compiled.graph, OnceLock::new());
    let runner = Runner { service, caller, snapshot, whole: &whole, graph, budget: &budget };
    let mut plan = match prepared.work {
        Prepared::Query(plan) => plan,
        Prepared::Mutation(mutation) => {
            let done = mutation.run(service, &request.caller, &compiled.graph.tables).await;
            let (body, passing) = match done {
                Ok(plan) => {
                    changed.store(true, Ordering::Relaxed);
                    (document_of::run(runner, &plan, None).await.map_err(Broken)?.body, false)
                }
                Err(problems) => (document_of::undone(&problems), problems.iter().any(Problem::passes)),
            };
            let read = Vec::new();
            return Ok(Ok(Answer::Document { body, read, repeatable: false, refused: None, passing }));
        }
    };
    if request.raw {
        match roapi_rows::level_of(plan) {
            Ok(level) => return Ok(roapi_rows::rows(runner, level).await.map(Answer::Rows)),
            Err(other) => plan = other,
        }
        // If the only root field fails, the request fails, as in ROAPI.
        if plan.roots.len() == 1
            && let Some(index) = plan.roots.iter().position(|root| matches!(root.work, Work::Failed(_)))
            && let Work::Failed(error) = plan.roots.swap_remove(index).work
        {
            return Ok(Err(error));
        }
    }
    let finished = document_of::run(runner, &plan, prepared.introspection.as_ref()).await.map_err(Broken)?;
    let mut read = versions(&plan, &compiled.graph, snapshot);
    read.extend(finished.read);
    // Introspection results depend on every entry, also on those that are not loaded yet.
    let repeatable = finished.repeatable && finished.problems.is_empty() && prepared.introspection.is_none();
    Ok(Ok(Answer::Document { body: finished.body, read, repeatable, refused: None, passing: false }))
}

struct Ready {
    work: Prepared,
    introspection: Option<ExecutionResponse>,
}

enum Prepared {
    Query(DocumentPlan),
    Mutation(Mutation),
}

/// Turns the text into a plan: parse, check limits, validate, compile.
fn prepare(compiled: &Compiled, snapshot: &Snapshot, request: &Request) -> Result<Ready, Vec<Problem>> {
    let refuse = |error: Error| vec![Problem::at(&[], &error)];
    let mut parser = Parser::new().recursion_limit(GRAPHQL_NESTING_MAX).token_limit(GRAPHQL_TOKENS_MAX);
    let mut document = parser
        .parse_ast(request.document.as_str(), "document.graphql")
        .map_err(|failed| Problem::all(&failed.errors, &compiled.schema))?;
    bounds::check(&document).map_err(refuse)?;
    let lax = if request.raw {
        roapi_shorthand::rewrite(&mut document, (&compiled.graph, snapshot), &request.caller).map_err(refuse)?
    } else {
        AHashMap::new()
    };
    let document = validate(compiled, snapshot, &request.caller, &document)?;
    let operation = document
        .operations
        .get(request.operation.as_deref())
        .map_err(|error| vec![Problem::of(&error.to_graphql_error(&document.sources))])?;
    let variables = coerce_variable_values(&compiled.schema, operation, &request.variables)
        .map_err(|error| vec![Problem::of(&error.to_graphql_error(&document.sources))])?;
    bounds::check_arguments(&document, operation, &variables).map_err(refuse)?;
    if operation.is_mutation() {
        if !request.may_change {
            let code = if request.is_get { Code::MethodNotAllowed } else { Code::InvalidGraphql };
            let error = Error::new(code, "a mutation is sent with POST, as JSON");
            return Err(refuse(error.with_hint("say `Content-Type: application/json`, which no foreign page can")));
        }
        let variables = Variables { values: &variables, exact: &request.exact };
        let compiler = Compiler { graph: &compiled.graph, document: &document, variables, lax: &lax, raw: false };
        let mutation = compiler.mutation(operation).map_err(refuse)?;
        return Ok(Ready { work: Prepared::Mutation(mutation), introspection: None });
    }
    let exact = Variables { values: &variables, exact: &request.exact };
    let plan = plan(compiled, &document, operation, (exact, &lax, request.raw));
    let introspection = introspect(compiled, &document, operation, &variables, &plan)?;
    Ok(Ready { work: Prepared::Query(plan), introspection })
}

fn validate(
    compiled: &Compiled,
    snapshot: &Snapshot,
    caller: &Caller,
    document: &Document,
) -> Result<Valid<ExecutableDocument>, Vec<Problem>> {
    document.to_executable_validate(&compiled.schema).map_err(|failed| {
        let mut problems = Problem::all(&failed.errors, &compiled.schema);
        for problem in &mut problems {
            // A table that is not loaded has no field, nor has a query that can't be run; for that there is a better
            // error message.
            let Some(field) = problem.message.strip_prefix("type `Query` does not have a field `") else { continue };
            let field = field.trim_end_matches('`');
            let of_entry = || snapshot.resolve(compiled.graph.entries.get(field)?.as_str()).err();
            if let Some(error) = compiled.graph.queries.refusal(field, caller).or_else(of_entry) {
                *problem = Problem { locations: std::mem::take(&mut problem.locations), ..Problem::at(&[], &error) };
            }
        }
        problems
    })
}

fn plan(
    compiled: &Compiled,
    document: &ExecutableDocument,
    operation: &Operation,
    (variables, lax, raw): (Variables<'_>, &AHashMap<String, Arguments>, bool),
) -> DocumentPlan {
    Compiler { graph: &compiled.graph, document, variables, lax, raw }.plan(operation)
}

/// Returns the values of `__schema` and `__type`, if they are selected.
fn introspect(
    compiled: &Compiled,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &Valid<JsonMap>,
    plan: &DocumentPlan,
) -> Result<Option<ExecutionResponse>, Vec<Problem>> {
    if !plan.roots.iter().any(|root| matches!(root.work, Work::Introspection)) {
        return Ok(None);
    }
    let schema = &compiled.schema;
    introspection::check_max_depth(document, operation)
        .and_then(|()| introspection::partial_execute(schema, &compiled.implementers, document, operation, variables))
        .map(Some)
        .map_err(|error| vec![Problem::of(&error.to_graphql_error(&document.sources))])
}

/// Returns every entry that `plan` reads, once, with its version.
fn versions(plan: &DocumentPlan, graph: &Graph, snapshot: &Snapshot) -> Vec<(Name, Version)> {
    let mut tables = Vec::new();
    for root in &plan.roots {
        if let Work::Rows(level) | Work::One(level) | Work::Page(level, _) = &root.work {
            level.for_each_table(&mut |table| tables.push(table));
        }
    }
    tables.sort_unstable();
    tables.dedup();
    let version = |table: usize| {
        let entry = &graph.tables[table].entry;
        Some((entry.clone(), snapshot.resolve(entry.as_str()).ok()?.describe().version))
    };
    tables.into_iter().filter_map(version).collect()
}
