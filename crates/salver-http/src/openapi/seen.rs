//! What there is for the caller: which rows of the table of routes lead to something that it may ask for.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, Schema};
use http::Method;
use salver_model::access::METRICS;
use salver_model::ports::{Database, QueryDescription};
use salver_model::records::{DatabaseSchema, Operation};
use salver_model::{Description, Permission, Result};
use salver_service::{Entry, QueryState, Service, Snapshot};

use super::query::SeenQuery;
use crate::request_context::RequestContext;
use crate::routes::RouteTarget;
use crate::routes::arangodb::ArangodbRequest;
use crate::routes::confluent::{ConfluentTarget, Topic};
use crate::routes::own::OwnTarget;
use crate::routes::records::{AccountStep, RecordsTarget};
use crate::routes::streams::StreamsTarget;

/// A database of the caller.
pub(super) struct SeenDatabase {
    /// The database.
    pub(super) own: Arc<dyn Database>,
    /// The one that is configured, of which this is the caller's own where each caller has one.
    entry: Arc<dyn Database>,
    /// The tables and columns that documents may name.
    pub(super) documented: Arc<DatabaseSchema>,
}

/// What there is for the caller.
pub(super) struct Seen {
    /// The entries whose rows the caller may read.
    pub(super) read: Arc<Snapshot>,
    has_sql: bool,
    has_exports: bool,
    /// The databases.
    pub(super) databases: Vec<SeenDatabase>,
    /// What may be done with a table of a database, at least.
    operations: Vec<Operation>,
    appends: bool,
    consumes: bool,
    /// The named queries that can be run.
    pub(super) queries: Vec<SeenQuery>,
    /// Whether there are named queries, of which some may not be run now.
    has_queries: bool,
    /// Whether queries may be changed.
    edits_queries: bool,
    /// Whether there are functions to call.
    pub(super) functions: bool,
    has_metrics: bool,
    has_provider: bool,
    /// Names of the user, the password and the new password in a request; `None` where nobody logs in here.
    pub(super) account_fields: Option<[String; 3]>,
    registers: bool,
    /// Whether callers authenticate in some way.
    pub(super) has_auth: bool,
}

impl Seen {
    /// Looks at what there is.
    ///
    /// # Errors
    /// Those of looking up the database of a caller.
    pub(super) async fn of(context: &RequestContext<'_>) -> Result<Self> {
        let (app, caller) = (context.app, context.caller);
        let service = &app.service;
        let read = service.snapshot_settled(caller, Permission::Read).await;
        let is_open = caller.grants.is_none();
        let has = |permission| is_open || service.snapshot(caller, permission).entries().next().is_some();
        let may =
            |permission| service.consumers(caller).any(|stream| caller.may(permission, stream.spec().name.as_str()));
        let databases = databases(context).await?;
        let mut operations = Vec::new();
        for (_, operation) in Operation::ALL {
            let is_there = |database: &SeenDatabase| {
                let spec = database.own.spec();
                let is_on = match operation {
                    Operation::Remodel => spec.definable,
                    operation => !operation.writes() || spec.writable,
                };
                is_on && !database.own.visible(caller, operation).tables().is_empty()
            };
            if databases.iter().any(is_there) {
                operations.push(operation);
            }
        }
        let auth = app.auth.load();
        let users = auth.as_ref().and_then(|auth| auth.users.as_ref()).filter(|users| users.spec.login);
        Ok(Self {
            read,
            has_sql: has(Permission::Sql),
            has_exports: has(Permission::Export),
            databases,
            operations,
            appends: may(Permission::Append),
            consumes: may(Permission::Consume),
            has_queries: service.queries_for(caller).next().is_some(),
            queries: queries(context).await,
            edits_queries: app.options.query_editor.is_some() && service.may_edit_queries(caller),
            functions: service.functions().iter().any(|file| file.check(caller).is_ok()),
            has_metrics: app.options.metrics.is_none() && caller.may(Permission::Administer, METRICS),
            has_provider: app.has_provider(),
            account_fields: users.map(|users| users.spec.fields.clone()),
            registers: users.is_some_and(|users| users.spec.register),
            has_auth: auth.is_some(),
        })
    }

    /// Returns the name by which a table of a database is found: its own, unless another database has one of that name
    /// before.
    pub(super) fn name_of(&self, service: &Service, database: &SeenDatabase, table: &str) -> String {
        match service.database_with(table) {
            Ok((found, _)) if Arc::ptr_eq(found, &database.entry) => table.to_owned(),
            _ => format!("{}.{table}", database.entry.spec().name),
        }
    }

    /// Returns the description of an entry as documents may have it; `None` for one that they may not name. Rules of a
    /// database may keep tables and columns from documents alone.
    pub(super) fn documented<'e>(&self, entry: &'e Entry) -> Option<Cow<'e, Description>> {
        let description = entry.table()?.describe();
        let Some(name) = &entry.database else { return Some(Cow::Borrowed(description)) };
        let database = self.databases.iter().find(|database| database.entry.spec().name == *name)?;
        let inside = entry.ruled_name().strip_prefix(name.as_str())?.strip_prefix('.')?;
        let table = database.documented.table(inside)?;
        let is_there = |column: &str| table.column(column).is_some();
        let fields = description.schema.fields();
        if fields.iter().all(|field| is_there(field.name())) {
            return Some(Cow::Borrowed(description));
        }
        let fields: Vec<FieldRef> = fields.iter().filter(|field| is_there(field.name())).cloned().collect();
        let key = description.key.iter().filter(|column| is_there(column)).cloned().collect();
        Some(Cow::Owned(Description { schema: Arc::new(Schema::new(fields)), key, ..description.clone() }))
    }

    /// Returns whether there is something for the caller at a route.
    pub(super) fn has(&self, target: &RouteTarget<'_>, method: &Method) -> bool {
        match target {
            RouteTarget::Own(target) => match target {
                OwnTarget::Sql => self.has_sql,
                OwnTarget::Look(..) => !self.read.stores().is_empty(),
                OwnTarget::Metrics => self.has_metrics,
                OwnTarget::Provider(_) => self.has_provider,
                OwnTarget::Query(_) => self.has_queries,
                OwnTarget::EditQuery(_) => self.edits_queries,
                _ => true,
            },
            RouteTarget::Records(target) => self.has_records(target, method),
            RouteTarget::Exports(_) | RouteTarget::ArangoDb(_) if !self.has_exports => false,
            RouteTarget::ArangoDb(target) => target.asked != ArangodbRequest::Login || self.has_auth,
            RouteTarget::Exports(_) => true,
            RouteTarget::Streams(StreamsTarget::All) => self.appends || self.consumes,
            RouteTarget::Streams(StreamsTarget::Append(_) | StreamsTarget::Tinybird) => self.appends,
            RouteTarget::Streams(_) => self.consumes,
            RouteTarget::Confluent(target) => match target {
                ConfluentTarget::Produce(..) | ConfluentTarget::InCluster(_, Topic::Records(_) | Topic::Batch(_)) => {
                    self.appends
                }
                ConfluentTarget::Topics
                | ConfluentTarget::Brokers
                | ConfluentTarget::Clusters
                | ConfluentTarget::Cluster(_)
                | ConfluentTarget::InCluster(_, Topic::All) => self.appends || self.consumes,
                _ => self.consumes,
            },
            RouteTarget::Functions(_) => self.functions,
        }
    }

    fn has_records(&self, target: &RecordsTarget<'_>, method: &Method) -> bool {
        let can = |operation| self.operations.contains(&operation);
        match (target, method) {
            (RecordsTarget::Account(AccountStep::Me), _) => self.account_fields.is_some() || self.has_provider,
            (RecordsTarget::Account(AccountStep::Register), _) => self.registers,
            (RecordsTarget::Account(_), _) => self.account_fields.is_some(),
            (RecordsTarget::Openapi | RecordsTarget::ClearCache | RecordsTarget::Ping, _) => !self.databases.is_empty(),
            (RecordsTarget::Records, _) => {
                [Operation::Create, Operation::Update, Operation::Increment, Operation::Delete].into_iter().any(can)
            }
            (RecordsTarget::Schema | RecordsTarget::SchemaTable(_) | RecordsTarget::SchemaColumn(..), method) => {
                can(if *method == Method::GET { Operation::Reflect } else { Operation::Remodel })
            }
            (RecordsTarget::Row(..) | RecordsTarget::MapRow(..), &Method::GET) => can(Operation::Read),
            (_, &Method::GET) => can(Operation::List),
            (_, &Method::POST) => can(Operation::Create),
            (_, &Method::PUT) => can(Operation::Update),
            (_, &Method::PATCH) => can(Operation::Increment),
            _ => can(Operation::Delete),
        }
    }
}

/// Returns the named queries of the caller that can be run, without waiting for those whose entries are being loaded.
async fn queries(context: &RequestContext<'_>) -> Vec<SeenQuery> {
    let (service, caller) = (&context.app.service, context.caller);
    let mut all = Vec::new();
    for query in service.queries_for(caller).filter(|query| matches!(query.state(), QueryState::Ready(_))) {
        if let Ok(description) = service.describe_query(caller, query).await {
            all.push((query.spec().clone(), QueryDescription::clone(&description)));
        }
    }
    all
}

/// Returns the databases of the caller. One that was never reached has no tables, and is not waited for.
async fn databases(context: &RequestContext<'_>) -> Result<Vec<SeenDatabase>> {
    let service = &context.app.service;
    let mut all = Vec::new();
    for entry in service.databases() {
        let Some(own) = context.database_if_any(entry).await? else { continue };
        let documented = match entry.spec().of_caller {
            Some(_) => service.visible_schema(context.caller, &own, Operation::Document).await?,
            None => own.visible(context.caller, Operation::Document),
        };
        all.push(SeenDatabase { own, entry: Arc::clone(entry), documented });
    }
    Ok(all)
}
