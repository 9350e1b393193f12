//! A view: a statement as a table.
//!
//! A query of a view is planned as one of a subquery: the engine plans both as a whole, with the filters of the query
//! pushed down to the tables. The statement is planned when one of its tables changes, and for callers of whom rules
//! keep something back: over what is left for them. A view with the owner's rights is read through its port alone, so
//! that no expression of a statement meets the rows behind it.

mod held;

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use datafusion::datasource::ViewTable as PlanProvider;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use salver_model::entry::{Description, EntryKind};
use salver_model::ports::{Held, MaybeReady, Table, Tables};
use salver_model::spec::{RunsAs, ViewSpec};
use salver_model::{Error, Name, Query, ReadView, Result, Rows, Version};

use super::plan_view;
use crate::append_only::HeldTable;
use crate::dataset::{Dataset, check_having};
use crate::engine::{Engine, QueryWork};
use crate::restricted::RestrictedTable;
use crate::{fault, plan, resolve};
use held::HeldView;

/// The rows of a view, over tables at one version.
#[derive(Clone, Debug)]
pub(super) struct ViewTable {
    about: Description,
    spec: ViewSpec,
    /// The tables that it reads.
    inputs: Arc<[Arc<dyn Table>]>,
    /// The plan; `None` if it is to be made for each read, since the tables are others than it was made for.
    plan: Option<LogicalPlan>,
    is_repeatable: bool,
    engine: Arc<Engine>,
}

impl ViewTable {
    /// Plans a view over `tables`; must be called where the stack is large.
    ///
    /// # Errors
    /// Those of [`salver_model::ports::SqlEngine::view`].
    pub(super) async fn plan(engine: &Arc<Engine>, spec: &ViewSpec, tables: Arc<dyn Tables>) -> Result<Self> {
        let now = Arc::new(TablesOfNow { tables, given: Mutex::default() });
        let planned = plan_view(engine, &spec.sql, Arc::<TablesOfNow>::clone(&now) as _).await?;
        let inputs: Arc<[Arc<dyn Table>]> = planned.tables.iter().map(|table| now.given(table)).collect();
        let grows = inputs.iter().any(|table| table.current().is_some());
        let about = Description {
            name: spec.name.clone(),
            kind: EntryKind::View,
            schema: planned.schema,
            key: Vec::new(),
            relations: Vec::new(),
            rows: None,
            version: version(spec, &planned.tables),
            source: source(spec, &planned.tables),
            memory_bytes: 0,
        };
        Ok(Self {
            about,
            spec: spec.clone(),
            inputs,
            plan: (!grows).then_some(planned.plan),
            is_repeatable: planned.is_repeatable,
            engine: Arc::clone(engine),
        })
    }

    /// Returns the view that a table is, or is what is left of.
    pub(super) fn behind(table: &Arc<dyn Table>) -> Option<&Self> {
        let own = table.as_any();
        own.downcast_ref().or_else(|| Self::behind(own.downcast_ref::<RestrictedTable>()?.whole()))
    }

    /// Returns whether the rows are the same as long as the version is.
    pub(super) fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    /// Returns whether it sees no more than its caller.
    pub(super) fn has_rights_of_caller(&self) -> bool {
        self.spec.runs_as == RunsAs::Caller
    }

    /// Returns the view as a table of the engine; must be called where the stack is large.
    pub(super) async fn provider(&self) -> Result<Arc<dyn TableProvider>> {
        let plan = match &self.plan {
            Some(plan) => plan.clone(),
            // Boxed, since a view may read another.
            None => Box::pin(self.planned_anew()).await?,
        };
        Ok(Arc::new(PlanProvider::new(plan, None)))
    }

    /// Plans the statement over the tables of now, with the columns that were told of.
    async fn planned_anew(&self) -> Result<LogicalPlan> {
        let tables = Arc::new(Inputs(Arc::clone(&self.inputs)));
        let plan = plan_view(&self.engine, &self.spec.sql, tables).await?.plan;
        let columns: Vec<usize> = self.about.schema.fields().iter().filter_map(|f| position(&plan, f.name())).collect();
        if columns.len() < self.about.schema.fields().len() {
            return Err(Error::internal(format!("the columns of `{}` changed while it was read", self.about.name))
                .with_hint("try again"));
        }
        projected(plan, &columns)
    }

    /// Returns the view as a table of the engine, from any thread.
    async fn provider_off_thread(&self) -> Result<Arc<dyn TableProvider>> {
        if self.plan.is_some() {
            return self.provider().await;
        }
        let own = self.clone();
        self.engine.run_task(QueryWork::default(), async move { own.provider().await }).await
    }

    /// Returns the same view over other tables.
    fn over(&self, inputs: Vec<Arc<dyn Table>>) -> Self {
        let about = Description { version: version(&self.spec, &inputs), ..self.about.clone() };
        Self { about, inputs: inputs.into(), plan: None, ..self.clone() }
    }

    /// Returns whether any of its tables grows.
    fn grows(&self) -> bool {
        self.inputs.iter().any(|table| table.current().is_some())
    }
}

/// Returns the version of the rows that a view gives of such tables.
fn version(spec: &ViewSpec, tables: &[Arc<dyn Table>]) -> Version {
    let of_table = |table: &Arc<dyn Table>| (table.describe().name.to_string(), table.describe().version);
    let mut versions: Vec<(String, Version)> = tables.iter().map(of_table).collect();
    versions.sort_unstable();
    Version::of(&(&spec.sql, versions))
}

/// Describes where the rows come from. Callers of a view with the owner's rights may know of none of its tables.
fn source(spec: &ViewSpec, tables: &[Arc<dyn Table>]) -> String {
    let names: Vec<String> = tables.iter().map(|table| format!("`{}`", table.describe().name)).collect();
    if names.is_empty() || spec.runs_as == RunsAs::Owner {
        return "SQL".to_owned();
    }
    format!("SQL over {}", names.join(", "))
}

fn position(plan: &LogicalPlan, name: &str) -> Option<usize> {
    plan.schema().fields().iter().position(|field| field.name() == name)
}

/// Returns the plan with some of its columns.
fn projected(plan: LogicalPlan, columns: &[usize]) -> Result<LogicalPlan> {
    let expressions: Vec<Expr> = columns.iter().map(|at| Expr::from(plan.schema().qualified_field(*at))).collect();
    LogicalPlanBuilder::from(plan).project(expressions).and_then(LogicalPlanBuilder::build).map_err(fault::planning)
}

/// Tables of which those that grow have the rows and columns of now.
#[derive(Debug)]
struct TablesOfNow {
    tables: Arc<dyn Tables>,
    /// Those that grow, by name.
    given: Mutex<Vec<Arc<dyn Table>>>,
}

impl TablesOfNow {
    /// Returns the table that grows whose rows of now `table` has, or itself.
    fn given(&self, table: &Arc<dyn Table>) -> Arc<dyn Table> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let own = given.iter().find(|given| given.describe().name == table.describe().name);
        Arc::clone(own.unwrap_or(table))
    }
}

impl Tables for TablesOfNow {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        let Some(table) = self.tables.table(name)? else { return Ok(None) };
        let Some(now) = table.current() else { return Ok(Some(table)) };
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push(table);
        Ok(Some(now))
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.tables.list()
    }

    fn names(&self) -> Vec<Name> {
        self.tables.names()
    }

    fn generation(&self) -> u64 {
        self.tables.generation()
    }
}

/// The tables of a view, as those that its statement may name.
#[derive(Debug)]
struct Inputs(Arc<[Arc<dyn Table>]>);

impl Tables for Inputs {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        Ok(self.0.iter().find(|table| table.describe().name.as_str() == name).cloned())
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        self.0.iter().map(|table| (table.describe().name.clone(), Arc::clone(table))).collect()
    }

    fn generation(&self) -> u64 {
        0
    }
}

/// Returns a table in a view of its database, or itself if it has none, or is in another.
fn seen_in(view: &Arc<ReadView>, table: &Arc<dyn Table>) -> Arc<dyn Table> {
    table.in_view(view).unwrap_or_else(|| Arc::clone(table))
}

/// Returns whether the table's rows never change, so that it is its own snapshot.
fn is_snapshot(table: &Arc<dyn Table>) -> bool {
    let own = table.as_any();
    if let Some(view) = own.downcast_ref::<ViewTable>() {
        return view.inputs.iter().all(is_snapshot);
    }
    own.is::<Dataset>()
        || own.is::<HeldTable>()
        || own.downcast_ref::<RestrictedTable>().is_some_and(|restricted| is_snapshot(restricted.whole()))
}

#[async_trait]
impl Table for ViewTable {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::pending(async move {
            let rows = if query.is_grouped() || query.distinct {
                let provider = self.provider_off_thread().await?;
                plan::read_grouped(&self.engine, &provider, &self.about, query).await?
            } else {
                check_having(query)?;
                let resolved = resolve::resolve(query, &self.about)?;
                let provider = self.provider_off_thread().await?;
                plan::read(&self.engine, &provider, &self.about, query, resolved).await?
            };
            Ok(Rows { repeatable: self.is_repeatable, ..rows })
        })
    }

    /// Returns the view over the rows of now. A request that reads a growing table as well may find rows in one of the
    /// two that came after it looked at the other.
    fn current(&self) -> Option<Arc<dyn Table>> {
        let now = |table: &Arc<dyn Table>| table.current().unwrap_or_else(|| Arc::clone(table));
        self.grows().then(|| Arc::new(self.over(self.inputs.iter().map(now).collect())) as _)
    }

    /// Returns the view over tables in one view of each database, for one with the owner's rights: the statement of any
    /// other is planned as a part of the caller's.
    fn in_view(&self, view: &Arc<ReadView>) -> Option<Arc<dyn Table>> {
        let inputs: Vec<Arc<dyn Table>> = self.inputs.iter().map(|table| seen_in(view, table)).collect();
        let is_seen = inputs.iter().zip(self.inputs.iter()).any(|(seen, table)| !Arc::ptr_eq(seen, table));
        is_seen.then(|| Arc::new(self.over(inputs)) as _)
    }

    async fn hold(&self, _parts: usize) -> Result<Arc<dyn Held>> {
        // All tables of a database are held in one state of it.
        let view = ReadView::new(true);
        let mut inputs: Vec<Arc<dyn Table>> = self.inputs.iter().map(|table| seen_in(&view, table)).collect();
        for table in &mut inputs {
            if !is_snapshot(table) {
                *table = Arc::new(HeldTable::of(table.hold(1).await?, Arc::clone(&self.engine)));
            }
        }
        let held = self.over(inputs);
        let plan = self.engine.run_task(QueryWork::default(), async move { held.planned_anew().await }).await?;
        Ok(Arc::new(HeldView::new(self.about.clone(), plan, Arc::clone(&self.engine))))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns the columns `columns` of a schema.
fn schema_of(schema: &SchemaRef, columns: &[usize]) -> Result<SchemaRef> {
    schema.project(columns).map(Arc::new).map_err(fault::arrow)
}
