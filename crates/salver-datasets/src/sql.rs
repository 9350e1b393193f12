//! SQL: parses and plans read-only statements, and runs them. A statement that is no more than a query of one dataset
//! is lowered to that query and bypasses the engine; all others are planned by the engine.

mod bounds;
mod catalog;
mod describe;
mod duplicate_columns;
mod error_position;
mod from_first;
mod grammar;
mod identifier_case;
mod lower;
mod parameters;
mod parse;
mod pg_rewrites;
mod question_marks;
mod redact;
mod route_row;
mod shown_integers;
mod type_names;
mod view;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Volatility, cast};
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::Statement;
use futures::FutureExt;
use futures::future::BoxFuture;
use salver_model::access::Restriction;
use salver_model::ports::{
    MaybeReady, QueryDescription, SqlEngine, StatementDescription, StatementQuestion, Table, Tables,
};
use salver_model::spec::{QuerySpec, ViewSpec};
use salver_model::{Code, Error, Name, PgValue, Result, Rows, SqlParameters, SqlQuery, Version};

use crate::engine::{Engine, QueryCluster, QueryWork, Route, STACK_BYTES};
use crate::pg_names::PgNames;
use crate::plan::WatchedQuery;
use crate::restricted::RestrictedTable;
use crate::system_catalog::{self, SystemTables};
use crate::udf::{self, Calls, Files};
use crate::{fault, plan, sql_allowlist};
use catalog::StatementSnapshot;
use lower::Lowered;
use redact::Paths;
use view::ViewTable;

/// Maximum length of a text that is tried on the caller's own thread, in bytes.
const NOW_BYTES: usize = 2 * 1024;
/// Maximum number of its words and operators, and so the maximum depth of its tree on the caller's stack.
const NOW_WORDS: usize = 256;

/// A prepared statement.
enum PreparedSql {
    Lowered(Box<Lowered>),
    /// With the place where it runs, if there is a cluster.
    Planned(Box<Planned>, Option<Route>),
}

struct Planned {
    state: SessionState,
    plan: LogicalPlan,
    read: Vec<(Name, Version)>,
    tables: Vec<Arc<dyn Table>>,
    /// Whether the statement reads the list of tables.
    lists: bool,
    repeatable: bool,
    paths: Option<Paths>,
    calls: Calls,
    /// The names that PostgreSQL gives the columns, for its clients.
    names: Option<PgNames>,
}

impl SqlEngine for Engine {
    fn run<'a>(&'a self, tables: Arc<dyn Tables>, query: &'a SqlQuery) -> MaybeReady<'a, Result<Rows>> {
        match at_once(&*tables, query) {
            Some(rows) => MaybeReady::Ready(Ok(rows)),
            None => MaybeReady::pending(self.answer(tables, query)),
        }
    }

    fn restrict(self: Arc<Self>, table: &Arc<dyn Table>, restriction: &Restriction) -> Result<Arc<dyn Table>> {
        Ok(Arc::new(RestrictedTable::new(table, restriction, &self)?))
    }

    fn view(self: Arc<Self>, view: &ViewSpec, tables: Arc<dyn Tables>) -> Result<Arc<dyn Table>> {
        let plan = || {
            let planned = ViewTable::plan(&self, view, tables).now_or_never();
            planned.unwrap_or_else(|| Err(Error::internal("a view waited for something to be planned")))
        };
        Ok(Arc::new(on_large_stack(plan)??))
    }

    fn describe<'a>(
        &'a self,
        tables: Arc<dyn Tables>,
        query: &'a QuerySpec,
    ) -> BoxFuture<'a, Result<QueryDescription>> {
        let (mut session, functions, query) = (self.session().clone(), self.functions(), query.clone());
        let work = QueryWork::begin(&mut session);
        let described = self.run_task(work, async move { describe::query(session, &functions, tables, &query).await });
        Box::pin(described)
    }

    fn describe_statement<'a>(
        &'a self,
        tables: Arc<dyn Tables>,
        question: StatementQuestion<'a>,
    ) -> BoxFuture<'a, Result<StatementDescription>> {
        let (mut session, functions) = (self.session().clone(), self.functions());
        let StatementQuestion { text, types, wants_columns } = question;
        let (text, types) = (text.to_owned(), types.to_vec());
        let work = QueryWork::begin(&mut session);
        let described = async move {
            let question = StatementQuestion { text: &text, types: &types, wants_columns };
            Box::pin(describe::statement(session, &functions, tables, question)).await
        };
        Box::pin(self.run_task(work, described))
    }
}

/// Runs `work` on a thread whose stack is large enough for the trees of statements, and waits for it.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| Error::internal("can't start a thread").with_source(error))?;
        thread.join().map_err(|panic| fault::panic(&*panic))
    })
}

/// What a view's statement is planned to.
struct PlannedView {
    /// The plan.
    plan: LogicalPlan,
    /// Columns of the rows when they are computed.
    schema: SchemaRef,
    /// The tables that it reads.
    tables: Vec<Arc<dyn Table>>,
    /// Whether it gives the same rows as long as they have the same versions.
    is_repeatable: bool,
}

/// Plans the statement of a view; must be called where the stack is large.
///
/// # Errors
/// Those of [`SqlEngine::view`].
async fn plan_view(engine: &Engine, text: &str, tables: Arc<dyn Tables>) -> Result<PlannedView> {
    let query = SqlQuery { text: text.to_owned(), is_safe: true, ..SqlQuery::default() };
    let statement = parse::parse(&query).map_err(|error| match error.code {
        Code::InvalidValue => Error { code: Code::InvalidSql, ..error }
            .with_hint("a view has no parameters; a [[query]] has, and is run by its name"),
        _ => error,
    })?;
    let admitted = admit(statement, &query, tables)?;
    let refused = |what: &str| Error::new(Code::InvalidSql, format!("a view is a query, and this {what}"));
    if !matches!(admitted.statement, Statement::Query(_)) {
        return Err(refused("is another statement").with_hint("write SELECT ... FROM ..."));
    }
    let mut state = engine.session().clone();
    QueryWork::begin(&mut state);
    let no_functions: Files = Arc::new([]);
    let planned = Box::pin(plan_statement(state, &no_functions, admitted, &query)).await?;
    if planned.lists {
        return Err(refused("reads the list of tables").with_hint("read tables by their names"));
    }
    let schema = columns(&planned)?;
    let plan = typed(planned.plan, &schema).map_err(fault::planning)?;
    Ok(PlannedView { plan, schema, tables: planned.tables, is_repeatable: planned.repeatable })
}

/// Gives the columns of a plan the types that they turn out to have, by which queries of it are planned.
fn typed(plan: LogicalPlan, schema: &SchemaRef) -> datafusion::common::Result<LogicalPlan> {
    let fields = || plan.schema().iter().zip(schema.fields());
    if fields().all(|((_, own), field)| own.data_type() == field.data_type()) {
        return Ok(plan);
    }
    let columns = fields().map(|((qualifier, own), field)| {
        let column = Expr::from((qualifier, own));
        match own.data_type() == field.data_type() {
            true => column,
            false => cast(column, field.data_type().clone()).alias(field.name()),
        }
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// Returns the columns of the rows that a plan gives. The types of some are known only when it is optimized; any may
/// turn out to be null.
fn columns(planned: &Planned) -> Result<SchemaRef> {
    let optimized = planned.state.optimize(&planned.plan).map_err(fault::planning)?;
    let fields = optimized.schema().fields().iter();
    let fields = fields.map(|field| Field::new(field.name(), field.data_type().clone(), true));
    Ok(planned.told(&Arc::new(Schema::new(fields.collect::<Vec<_>>()))))
}

/// Runs a statement on the calling thread if that takes microseconds. Failures are left to the engine, which knows the
/// text and reports them better.
fn at_once(tables: &dyn Tables, query: &SqlQuery) -> Option<Rows> {
    let values = match &query.parameters {
        SqlParameters::Exact(values) => values.iter().map(PgValue::bytes).sum(),
        _ => 0,
    };
    if query.text.len() + values > NOW_BYTES {
        return None;
    }
    let attempt = AssertUnwindSafe(|| {
        let statement = parse::parse_within(query, NOW_WORDS).ok()?;
        lower::lower(&statement, tables)?.named_for(query).at_once()?.ok()
    });
    std::panic::catch_unwind(attempt).unwrap_or(None)
}

impl Planned {
    /// Returns the columns as a client is told them.
    fn told(&self, schema: &SchemaRef) -> SchemaRef {
        self.names.as_ref().map_or_else(|| Arc::clone(schema), |names| names.told(schema))
    }
}

impl Engine {
    /// Runs a statement on the engine's threads.
    async fn answer(&self, tables: Arc<dyn Tables>, query: &SqlQuery) -> Result<Rows> {
        let watched = WatchedQuery::of_sql(self, &query.text);
        let (mut session, functions, query) = (self.session().clone(), self.functions(), query.clone());
        let (work, cluster) = (QueryWork::begin(&mut session), self.cluster().map(Arc::clone));
        let prepared = async move { prepare(session, (&functions, cluster.as_deref()), tables, &query).await };
        match self.run_task(work, prepared).await? {
            PreparedSql::Lowered(lowered) => lowered.read().await,
            PreparedSql::Planned(planned, route) => {
                let Planned { state, plan, read, repeatable, paths, calls, names, .. } = *planned;
                let explains = paths.is_some();
                let (why, elsewhere) = route.map(|route| (route.why, route.work)).unzip();
                let answer = match elsewhere.flatten().filter(|_| !explains) {
                    Some(elsewhere) => self.execute(QueryWork::of(state.config_options()), elsewhere).await?,
                    None => plan::answer(self, state, plan, watched).await?,
                };
                let batches = match paths {
                    Some(paths) => route_row::added(paths.redact(answer.batches).await?, &answer.schema, why)?,
                    None => answer.batches,
                };
                let batches = calls.hold(batches);
                let schema = names.map_or_else(|| Arc::clone(&answer.schema), |names| names.told(&answer.schema));
                Ok(Rows { schema, batches, total: None, next: None, read, repeatable })
            }
        }
    }

    /// Returns whether a statement calls a function that the engine lacks, so that function files should be searched.
    #[must_use]
    pub fn lacks_function(&self, query: &SqlQuery) -> bool {
        let looks = || parse::parse(query).is_ok_and(|statement| udf::are_in(&statement, self.session()));
        on_large_stack(looks).unwrap_or(false)
    }
}

async fn prepare(
    state: SessionState,
    (functions, cluster): (&Files, Option<&dyn QueryCluster>),
    tables: Arc<dyn Tables>,
    query: &SqlQuery,
) -> Result<PreparedSql> {
    let admitted = admit(parse::parse(query)?, query, tables)?;
    let is_small = |lowered: &Lowered| !cluster.is_some_and(|cluster| cluster.may_take(lowered.table()));
    if admitted.system.is_none()
        && let Some(lowered) = lower::lower(&admitted.statement, &*admitted.tables).filter(Lowered::is_sound)
        && is_small(&lowered)
    {
        return Ok(PreparedSql::Lowered(Box::new(lowered.named_for(query))));
    }
    let planned = Box::pin(plan_statement(state, functions, admitted, query)).await?;
    let work = QueryWork::of(planned.state.config_options());
    let route = match cluster {
        Some(cluster) => Some(cluster.route(&planned.plan, work).await),
        None => None,
    };
    Ok(PreparedSql::Planned(Box::new(planned), route))
}

/// A statement that may be planned, and what it may name.
pub(crate) struct AdmittedStatement {
    statement: Statement,
    tables: Arc<dyn Tables>,
    /// The names that PostgreSQL gives the columns, for its clients.
    names: Option<PgNames>,
    /// The same tables, where the system catalog is among them.
    system: Option<Arc<SystemTables>>,
}

/// Lets a statement in that was parsed from the text of `query`, if it only reads. The system catalog is among the
/// tables of one that may name it and does.
///
/// # Errors
/// `ReadOnly`, and `InvalidSql` for what the system catalog has not.
pub(crate) fn admit(mut statement: Statement, query: &SqlQuery, tables: Arc<dyn Tables>) -> Result<AdmittedStatement> {
    let is_entry = |name: &str| matches!(tables.table(name), Ok(Some(_)));
    let is_about_it = query.sees_system_catalog && system_catalog::is_about_it(&query.text, is_entry);
    let names = query.sees_system_catalog.then(|| names(&statement, query));
    let names = names.map(|names| if is_about_it { names.about_catalog() } else { names });
    let system = is_about_it.then(|| Arc::new(SystemTables::new(Arc::clone(&tables))));
    if let Some(system) = &system {
        system_catalog::rewrite(&mut statement, system)?;
    }
    sql_allowlist::check(&statement)?;
    let tables = system.clone().map_or(tables, |system| system as Arc<dyn Tables>);
    Ok(AdmittedStatement { statement, tables, names, system })
}

/// Returns the names that PostgreSQL gives the columns of a statement. Values of parameters have taken their places in
/// it, which say nothing of names.
fn names(statement: &Statement, query: &SqlQuery) -> PgNames {
    if !matches!(query.parameters, SqlParameters::None)
        && let Ok(open) = parse::parse_open(&query.text)
    {
        return PgNames::of(&open);
    }
    PgNames::of(statement)
}

/// Plans a statement that was parsed from the text of `query`.
async fn plan_statement(
    mut state: SessionState,
    functions: &Files,
    admitted: AdmittedStatement,
    query: &SqlQuery,
) -> Result<Planned> {
    let AdmittedStatement { mut statement, tables, names, system } = admitted;
    if let Some(system) = &system {
        system_catalog::register(&mut state, system).map_err(fault::planning)?;
    }
    pg_rewrites::rewrite(&mut statement)?;
    // Rewriting may enlarge the statement.
    bounds::check_rewritten(&statement)?;
    let named = identifier_case::resolve(&mut statement, &*tables)?;
    bounds::columns(&statement, &*tables)?;
    let functions: Files =
        functions.iter().filter(|file| tables.calls(file.spec().name.as_str())).map(Arc::clone).collect();
    let calls = udf::register(&mut statement, &mut state, &functions, query.is_safe)?;
    let explains = matches!(statement, Statement::Explain { .. });
    let lists =
        named.reads_every_table || matches!(statement, Statement::ShowTables { .. } | Statement::ShowColumns { .. });
    let snapshot = Arc::new(StatementSnapshot::new(Arc::clone(&tables)));
    state.register_catalog_list(Arc::<StatementSnapshot>::clone(&snapshot) as _);
    let place = |error| calls.explain(error_position::place(error, &query.text));
    let written = |statement: Statement| EngineStatement::Statement(Box::new(statement));
    let plan = match state.statement_to_plan(written(statement.clone())).await {
        Err(error) if fault::is_of_names(&error) => {
            pg_rewrites::tell_apart(&mut statement);
            state.statement_to_plan(written(statement)).await.map_err(place)?
        }
        planned => planned.map_err(place)?,
    };
    let plan = duplicate_columns::told_apart(plan).map_err(fault::planning)?;
    if lists {
        snapshot.note_all();
    }
    let (read, tables_read) = (snapshot.read(), snapshot.tables_read());
    if tables_read.iter().any(|table| ViewTable::behind(table).is_some()) {
        bounds::check_with_views(&plan)?;
    }
    // The list of tables changes with tables that don't exist yet and so have no version; user code has no version
    // either.
    let repeatable = !explains
        && !lists
        && !calls.are_there()
        && !snapshot.is_changing()
        && is_repeatable(&plan).map_err(fault::planning)?;
    let paths = explains.then(|| Paths::of(&*tables));
    Ok(Planned { state, plan, read, tables: tables_read, lists, repeatable, paths, calls, names })
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
