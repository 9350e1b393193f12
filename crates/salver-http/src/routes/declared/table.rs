//! The table of declared routes, at one moment.
//!
//! A path without parameters comes before one with, and both in the order in which they are declared: streams first,
//! then files in the order of the settings. Patterns may overlap, and their parameters have types, so that a path which
//! does not fit one may fit the next; that is why they are tried in order, and not by the matcher of the server's own
//! paths. Mount points come last, the nearest first.

use std::sync::Arc;

use ahash::AHashMap;
use http::Method;
use salver_model::functions::{Endpoint, Interface, Matching};
use salver_model::spec::FunctionSpec;
use salver_service::{FunctionFile, Service};

use super::hidden;
use super::row::{DeclaredRow, DeclaredTarget};
use crate::routes::pattern::Pattern;
use crate::routes::precedence::{find_own, is_free, is_own};
use crate::routes::suggest::like;
use crate::routes::{Family, Methods, RouteLabel};
use crate::segment::segment;

/// The table of declared routes.
#[derive(Debug, Default)]
pub(crate) struct DeclaredTable {
    rows: Vec<DeclaredRow>,
    /// Rows without parameters, by their path.
    exact: AHashMap<String, Vec<usize>>,
    /// Rows with parameters, and those that also match what is below them.
    patterns: Vec<usize>,
    /// Mount points, the nearest first.
    mounts: Vec<usize>,
    files: Vec<DeclaringFile>,
    /// What is told of rows that can't be reached.
    hidden: Vec<String>,
    /// Whether access rules may hide entries from some callers.
    has_rules: bool,
}

/// A file of functions, as it was when the table was made.
#[derive(Debug)]
struct DeclaringFile {
    /// Mount point.
    mount: String,
    state: FileState,
}

#[derive(Debug)]
enum FileState {
    Loaded(Arc<Interface>),
    Loading,
    Failed,
}

/// The result of a lookup.
#[derive(Debug)]
pub(crate) enum DeclaredFound {
    /// A row that matches.
    Row(DeclaredMatch),
    /// Paths that match, but no row for this method; their methods, and the family of all.
    OtherMethod(Methods, Family),
    /// No path that matches.
    Nothing,
}

/// A row that matches, in its table, with the values of its parameters.
#[derive(Debug)]
pub(crate) struct DeclaredMatch {
    table: Arc<DeclaredTable>,
    row: usize,
    /// Names and decoded values of the parameters.
    pub(crate) values: Vec<(String, String)>,
}

impl DeclaredTable {
    /// Creates the table of what is loaded now.
    pub(super) fn new(service: &Service, has_provider: bool) -> Self {
        let has_rules = service.access().is_some_and(|policy| !policy.is_open());
        let mut table = Self { has_rules, ..Self::default() };
        for stream in service.all_consumers() {
            let (name, route) = (&stream.spec().name, stream.spec().route.as_deref());
            let Some(route) = route else { continue };
            let shown = format!("`POST {route}` of the stream `{name}`");
            let row = DeclaredRow::new(Pattern::of_literal(route), Methods::POST, DeclaredTarget::Stream, name, shown);
            table.rows.push(row);
        }
        for file in service.functions() {
            table.add_file(file.spec(), FileState::of(file));
        }
        table.arrange(|method, path| !is_free(&find_own(service, method, path, ""), || has_provider));
        table
    }

    /// Puts the rows into the order in which they are tried. `is_taken` tells whether the server has a path itself.
    fn arrange(&mut self, is_taken: impl Fn(&Method, &str) -> bool) {
        for (index, row) in self.rows.iter_mut().enumerate() {
            if row.is_mount() {
                self.mounts.push(index);
                continue;
            }
            row.is_taken = is_taken(&row.methods.sample(), &row.pattern.sample());
            match row.pattern.literal() {
                Some(path) => self.exact.entry(path).or_default().push(index),
                None => self.patterns.push(index),
            }
        }
        let (rows, files) = (&self.rows, &self.files);
        self.mounts.sort_by_key(|index| {
            let target = rows[*index].target;
            let mount = target.file().map_or(0, |file| files[file].mount.len());
            (std::cmp::Reverse(mount), matches!(target, DeclaredTarget::Unloaded(_)))
        });
        self.hidden = self.find_hidden();
    }

    /// Adds the rows of a file.
    fn add_file(&mut self, spec: &FunctionSpec, state: FileState) {
        let index = self.files.len();
        let place = format!("`{}` ({})", spec.name, spec.file.display());
        let root = if spec.path.is_empty() { "/" } else { spec.path.as_str() };
        let mut add = |pattern, methods, target, shown| {
            self.rows.push(DeclaredRow::new(pattern, methods, target, &spec.name, shown));
        };
        let mount = || Pattern::below(&spec.path, "", true);
        match &state {
            FileState::Loaded(interface) => {
                for (number, endpoint) in interface.endpoints.iter().enumerate() {
                    let Some((method, path)) = &endpoint.route else { continue };
                    let (methods, target) = match interface.application {
                        // It refuses other methods itself.
                        true => (Methods::named("*"), DeclaredTarget::Application(index, Some(number))),
                        false => (Methods::named(method), DeclaredTarget::Endpoint(index, number)),
                    };
                    if methods != Methods::NONE {
                        let pattern = Pattern::below(&spec.path, path, endpoint.matching == Matching::Prefix);
                        let declared = format!("{}/{}", spec.path, path.trim_start_matches('/'));
                        let function = match endpoint.function.as_str() {
                            "" => String::new(),
                            name => format!(", its function `{name}`"),
                        };
                        let shown = format!("`{method} {declared}` of {place}{function}");
                        add(pattern, methods, target, shown);
                    }
                }
                if interface.application {
                    let shown = format!("the application {place} at `{root}`");
                    add(mount(), Methods::named("*"), DeclaredTarget::Application(index, None), shown);
                }
            }
            // Below `/` are all paths that are not there, which a file that can't be loaded must not change for long.
            FileState::Failed if spec.path.is_empty() => {}
            FileState::Loading | FileState::Failed => {
                add(mount(), Methods::named("*"), DeclaredTarget::Unloaded(index), format!("{place} at `{root}`"));
            }
        }
        self.files.push(DeclaringFile { mount: spec.path.clone(), state });
    }

    /// Returns whether the table was made of these files as they are now.
    pub(super) fn is_of(&self, files: &[FunctionFile]) -> bool {
        self.files.len() == files.len() && self.files.iter().zip(files).all(|(own, file)| own.state.is_that_of(file))
    }

    /// Looks up `path`, relative to the base path, among the routes of the entries that the caller may know of.
    pub(crate) fn find(
        self: &Arc<Self>,
        method: &Method,
        path: &str,
        may_know: impl Fn(&str) -> bool,
    ) -> DeclaredFound {
        let mut there: Option<(Methods, Family)> = None;
        for index in self.exact(path).iter().chain(&self.patterns) {
            let row = &self.rows[*index];
            let Some(values) = row.pattern.values(path).filter(|_| self.is_mounted(row, path)) else { continue };
            if !may_know(row.entry.as_str()) {
                continue;
            }
            if row.methods.allows(method) {
                return DeclaredFound::Row(DeclaredMatch { table: Arc::clone(self), row: *index, values });
            }
            let (methods, family) = there.unwrap_or((Methods::NONE, row.family()));
            let family = if family == row.family() { family } else { Family::Functions };
            there = Some((methods.and(row.methods), family));
        }
        let is_meant = |index: &&usize| {
            let row = &self.rows[**index];
            self.is_mounted(row, path) && may_know(row.entry.as_str())
        };
        let nearest = if is_own(path) { None } else { self.mounts.iter().find(is_meant) };
        match (nearest, there) {
            (Some(row), None) => DeclaredFound::Row(DeclaredMatch::mount(self, *row)),
            // Its routes may have the method.
            (Some(row), _) if matches!(self.rows[*row].target, DeclaredTarget::Unloaded(_)) => {
                DeclaredFound::Row(DeclaredMatch::mount(self, *row))
            }
            (_, Some((methods, family))) => DeclaredFound::OtherMethod(methods, family),
            (None, None) => DeclaredFound::Nothing,
        }
    }

    /// Returns the rows of a path without parameters, as it is or else decoded.
    fn exact(&self, path: &str) -> &[usize] {
        let path = path.trim_end_matches('/');
        let known = self.exact.get(path).or_else(|| self.exact.get(&decoded(path)?));
        known.map_or(&[], Vec::as_slice)
    }

    /// Returns whether the path is below the mount point of a row of an application, which gets it without that.
    fn is_mounted(&self, row: &DeclaredRow, path: &str) -> bool {
        match row.target {
            DeclaredTarget::Application(file, _) | DeclaredTarget::Unloaded(file) => self.below(file, path).is_some(),
            DeclaredTarget::Stream | DeclaredTarget::Endpoint(..) => true,
        }
    }

    /// Returns the path relative to the mount point of a file; `None` if it lies outside.
    fn below<'p>(&self, file: usize, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(self.files[file].mount.as_str())?;
        (below.is_empty() || below.starts_with('/')).then_some(below)
    }

    /// Returns the interface of a file; `None` while it has none.
    fn interface(&self, file: usize) -> Option<&Arc<Interface>> {
        match &self.files[file].state {
            FileState::Loaded(interface) => Some(interface),
            FileState::Loading | FileState::Failed => None,
        }
    }

    /// Returns the patterns and endpoints of the routes of a file that can be reached, in its order.
    pub(crate) fn endpoints(&self, file: usize) -> impl Iterator<Item = (&Pattern, &Endpoint)> {
        let rows = self.rows.iter().filter(move |row| row.target.file() == Some(file) && !row.is_taken);
        rows.filter_map(move |row| Some((&row.pattern, self.endpoint(row)?)))
    }

    fn endpoint(&self, row: &DeclaredRow) -> Option<&Endpoint> {
        match row.target {
            DeclaredTarget::Endpoint(file, number) | DeclaredTarget::Application(file, Some(number)) => {
                self.interface(file)?.endpoints.get(number)
            }
            _ => None,
        }
    }

    /// Returns a hint with the path most similar to `path`, among the routes of the entries that the caller may know
    /// of.
    pub(crate) fn suggestion(&self, path: &str, may_know: impl Fn(&str) -> bool) -> Option<String> {
        let rows = self.rows.iter().filter(|row| !row.is_mount() && !row.is_taken && may_know(row.entry.as_str()));
        rows.filter_map(|row| Some((row, like(path, &row.pattern.template())?))).find(|(_, meant)| meant != path).map(
            |(row, meant)| match (row.target, self.endpoint(row).and_then(|own| own.summary.as_deref())) {
                (DeclaredTarget::Stream, _) => {
                    format!("did you mean `{meant}`? It appends events to the stream `{}`.", row.entry)
                }
                (_, Some(summary)) => format!("did you mean `{meant}`? {summary}"),
                (_, None) => format!("did you mean `{meant}`, a path of `{}`?", row.entry),
            },
        )
    }

    /// Returns what is to be told of the rows that can't be reached.
    fn find_hidden(&self) -> Vec<String> {
        let taken = self.rows.iter().filter(|row| row.is_taken).map(hidden::by_the_server);
        let exact = self.exact.values().filter(|rows| rows.len() > 1).flat_map(|rows| self.hidden_of(rows));
        let mut told: Vec<String> = taken.chain(exact).chain(self.hidden_of(&self.patterns)).collect();
        let applications = self.mounts.iter().map(|index| &self.rows[*index]).filter(|row| row.target.is_application());
        told.extend(hidden::mounts(&applications.collect::<Vec<_>>(), self.has_rules));
        told.sort_unstable();
        told.dedup();
        told
    }

    fn hidden_of(&self, rows: &[usize]) -> Vec<String> {
        hidden::routes(&rows.iter().map(|index| &self.rows[*index]).collect::<Vec<_>>(), self.has_rules)
    }

    /// Tells the log of rows that can't be reached, unless it was told so of the table before this one.
    pub(super) fn tell_hidden(&self, before: &Self) {
        for told in self.hidden.iter().filter(|told| !before.hidden.contains(told)) {
            tracing::warn!(target: "route", "{told}");
        }
    }
}

impl FileState {
    fn of(file: &FunctionFile) -> Self {
        match file.interface() {
            Ok(interface) => Self::Loaded(interface),
            Err(_) if file.fault().is_some() => Self::Failed,
            Err(_) => Self::Loading,
        }
    }

    fn is_that_of(&self, file: &FunctionFile) -> bool {
        match (self, Self::of(file)) {
            (Self::Loaded(own), Self::Loaded(interface)) => Arc::ptr_eq(own, &interface),
            (Self::Loading, Self::Loading) | (Self::Failed, Self::Failed) => true,
            _ => false,
        }
    }
}

impl DeclaredMatch {
    fn mount(table: &Arc<DeclaredTable>, row: usize) -> Self {
        Self { table: Arc::clone(table), row, values: Vec::new() }
    }

    fn row(&self) -> &DeclaredRow {
        &self.table.rows[self.row]
    }

    /// Returns what the route leads to.
    pub(crate) fn target(&self) -> DeclaredTarget {
        self.row().target
    }

    /// Returns the name of the entry that declares it.
    pub(crate) fn entry(&self) -> &str {
        self.row().entry.as_str()
    }

    /// Returns the family of the doors that answer it.
    pub(crate) fn family(&self) -> Family {
        self.row().family()
    }

    /// Returns the label under which its requests are counted.
    pub(crate) fn label(&self) -> RouteLabel {
        if self.target() == DeclaredTarget::Stream { RouteLabel::STREAM_ROUTE } else { RouteLabel::USER_CODE }
    }

    /// Returns the interface of a file, as it was when the table was made.
    pub(crate) fn interface(&self, file: usize) -> Option<&Arc<Interface>> {
        self.table.interface(file)
    }

    /// Returns the path relative to the mount point of a file, for an application.
    pub(crate) fn below<'p>(&self, file: usize, path: &'p str) -> &'p str {
        self.table.below(file, path).filter(|below| !below.is_empty()).unwrap_or("/")
    }
}

/// Returns a path with its segments decoded; `None` if it has nothing to decode, or a segment has a `/` in it then.
fn decoded(path: &str) -> Option<String> {
    if !path.contains('%') {
        return None;
    }
    let parts: Vec<_> = path.split('/').map(segment).collect();
    (!parts.iter().any(|part| part.contains('/'))).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests;
