//! SQL: parses and plans read-only statements, and runs them. A statement that is no more than a query of one dataset
//! is lowered to that query and bypasses the engine; all others are planned by the engine.

mod bounds;
mod catalog;
mod grammar;
mod lower;
mod meaning;
mod names;
mod namesakes;
mod parameters;
mod parse;
mod position;
mod redact;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::Statement;
use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Name, Result, Rows, SqlQuery, Version};

use crate::calls::{self, Calls, Files};
use crate::engine::{Engine, STACK_BYTES, Work};
use crate::{fault, guard, plan};
use catalog::Snapshot;
use lower::Lowered;
use redact::Paths;

/// Maximum length of a text that is tried on the caller's own thread, in bytes.
const NOW_BYTES: usize = 2 * 1024;
/// Maximum number of its words and operators, and so the maximum depth of its tree on the caller's stack.
const NOW_WORDS: usize = 256;

/// A prepared statement.
enum Prepared {
    Lowered(Box<Lowered>),
    Planned(Box<Planned>),
}

struct Planned {
    state: SessionState,
    plan: LogicalPlan,
    read: Vec<(Name, Version)>,
    repeatable: bool,
    paths: Option<Paths>,
    calls: Calls,
}

#[async_trait]
impl SqlEngine for Engine {
    async fn run(&self, tables: Arc<dyn Tables>, query: &SqlQuery) -> Result<Rows> {
        let (mut session, functions, query) = (self.session().clone(), self.functions(), query.clone());
        let work = Work::begin(&mut session);
        match self.run_task(work, async move { prepare(session, &functions, tables, &query).await }).await? {
            Prepared::Lowered(lowered) => lowered.read().await,
            Prepared::Planned(planned) => {
                let Planned { state, plan, read, repeatable, paths, calls } = *planned;
                let answer = plan::answer(self, state, plan).await?;
                let batches = match paths {
                    Some(paths) => paths.redact(answer.batches).await?,
                    None => answer.batches,
                };
                let batches = calls.hold(batches);
                Ok(Rows { schema: answer.schema, batches, total: None, next: None, read, repeatable })
            }
        }
    }

    fn run_now(&self, tables: &Arc<dyn Tables>, query: &SqlQuery) -> Option<Result<Rows>> {
        if query.text.len() > NOW_BYTES {
            return None;
        }
        let attempt = AssertUnwindSafe(|| {
            let statement = parse::parse_within(query, NOW_WORDS).ok()?;
            // The engine, which knows the text, reports failures better.
            lower::lower(&statement, &**tables)?.read_now().filter(Result::is_ok)
        });
        std::panic::catch_unwind(attempt).unwrap_or(None)
    }
}

impl Engine {
    /// Returns whether a statement calls a function that the engine lacks, so that function files should be searched.
    #[must_use]
    pub fn lacks_function(&self, query: &SqlQuery) -> bool {
        let looks = || parse::parse(query).is_ok_and(|statement| calls::are_in(&statement, self.session()));
        // The caller's stack may be too small for the statement.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, looks);
            thread.ok().and_then(|thread| thread.join().ok()).unwrap_or(false)
        })
    }
}

async fn prepare(
    mut state: SessionState,
    functions: &Files,
    tables: Arc<dyn Tables>,
    query: &SqlQuery,
) -> Result<Prepared> {
    let mut statement = parse::parse(query)?;
    guard::check(&statement)?;
    if let Some(lowered) = lower::lower(&statement, &*tables).filter(Lowered::is_sound) {
        return Ok(Prepared::Lowered(Box::new(lowered)));
    }
    meaning::rewrite(&mut statement)?;
    // Rewriting may enlarge the statement.
    bounds::check_rewritten(&statement)?;
    let named = names::resolve(&mut statement, &*tables)?;
    bounds::columns(&statement, &*tables)?;
    let calls = calls::register(&mut statement, &mut state, functions, query.is_safe)?;
    let explains = matches!(statement, Statement::Explain { .. });
    let lists =
        named.reads_every_table || matches!(statement, Statement::ShowTables { .. } | Statement::ShowColumns { .. });
    let snapshot = Arc::new(Snapshot::new(Arc::clone(&tables)));
    state.register_catalog_list(Arc::<Snapshot>::clone(&snapshot) as _);
    let place = |error| calls.explain(position::place(error, &query.text));
    let written = |statement: Statement| EngineStatement::Statement(Box::new(statement));
    let plan = match state.statement_to_plan(written(statement.clone())).await {
        Err(error) if fault::is_of_names(&error) => {
            meaning::tell_apart(&mut statement);
            state.statement_to_plan(written(statement)).await.map_err(place)?
        }
        planned => planned.map_err(place)?,
    };
    let plan = namesakes::told_apart(plan).map_err(fault::planning)?;
    // The list of tables changes with tables that don't exist yet and so have no version; user code has no version
    // either.
    let repeatable = !explains
        && !lists
        && !calls.are_there()
        && !snapshot.is_changing()
        && is_repeatable(&plan).map_err(fault::planning)?;
    if lists {
        snapshot.note_all();
    }
    let paths = explains.then(|| Paths::of(&*tables));
    Ok(Prepared::Planned(Box::new(Planned { state, plan, read: snapshot.read(), repeatable, paths, calls })))
}

/// Returns whether the plan's functions always return the same for the same rows.
fn is_repeatable(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    let mut repeatable = true;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::ScalarFunction(call) = part
                    && call.func.signature().volatility != Volatility::Immutable
                {
                    repeatable = false;
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(repeatable)
}
