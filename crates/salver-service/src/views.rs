//! Views in the catalog. They are made with every change of the catalog, in the same moment, so that a snapshot never
//! has a view of other tables than its own; one whose tables are as before stays as it is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use salver_model::access::Restriction;
use salver_model::limits::VIEWS_DEPTH_MAX;
use salver_model::observation::Observation;
use salver_model::ports::{Table, Tables};
use salver_model::spec::RunsAs;
use salver_model::{Code, Error, Grants, Name, Permission, Result, SqlFault};

use crate::declared_views::{MadeView, Views};
use crate::snapshot::{Contents, Entry, LoadFailure, LoadState};

/// For whom views are made, where that is not everybody.
#[derive(Debug)]
pub(crate) struct ViewCaller<'c> {
    pub(crate) grants: &'c Arc<Grants>,
    pub(crate) permission: Permission,
    /// The catalog of everybody, with its views.
    pub(crate) whole: &'c Contents,
}

impl Views {
    /// Makes the views of the next contents of the catalog, which follow on `before`.
    pub(crate) fn make(self: &Arc<Self>, next: &mut Contents, before: &Contents) {
        if self.specs.is_empty() {
            return;
        }
        let is_settled =
            next.entries.values().all(|entry| self.has(&entry.name) || !matches!(entry.state, LoadState::Loading));
        // A name that is new, or gone, can mean something else in a statement.
        let is_same_names = next.entries.keys().eq(before.entries.keys());
        let kept = if is_same_names { before.views.clone() } else { BTreeMap::new() };
        let maker = Maker::new(Arc::clone(self), next, kept, None);
        let mut views = BTreeMap::new();
        for name in self.specs.keys() {
            let state = match maker.made(name, &[]) {
                Ok(made) => {
                    views.insert(name.clone(), made.clone());
                    LoadState::Ready(made.table)
                }
                Err(error) if error.code == Code::EntryUnavailable && !is_settled => LoadState::Loading,
                // A table of a database that is not read yet is not known.
                Err(error) if error.code == Code::InvalidSql && !is_settled => LoadState::Loading,
                Err(error) => {
                    self.tell(name, &error, before);
                    LoadState::Failed(LoadFailure { message: error.message, hint: error.hint, at: SystemTime::now() })
                }
            };
            next.entries.insert(name.clone(), Entry::new(name.clone(), state, None));
            next.index_again(name);
        }
        next.views = views;
    }

    /// Reports a failure that is not that of before.
    fn tell(&self, name: &Name, error: &Error, before: &Contents) {
        let known = before.entries.get(name).and_then(Entry::failure);
        if known.is_none_or(|known| known.message != error.message) {
            self.observer.observe(&Observation::LoadFailed { name, error });
        }
    }

    /// Makes the views that a caller may see, over what is left of the tables for it. A view that reads what is not
    /// there for the caller is not there either.
    pub(crate) fn make_for(self: &Arc<Self>, left: &mut Contents, caller: &ViewCaller<'_>) {
        if self.specs.is_empty() {
            return;
        }
        let rights = (Arc::clone(caller.grants), caller.permission);
        let maker = Maker::new(Arc::clone(self), left, caller.whole.views.clone(), Some(rights));
        for name in self.specs.keys().filter(|name| caller.grants.decide(caller.permission, name.as_str()).is_some()) {
            let Some(whole) = caller.whole.entries.get(name) else { continue };
            let state = match (&whole.state, maker.made(name, &[])) {
                (LoadState::Ready(_), Ok(made)) => LoadState::Ready(made.table),
                (LoadState::Loading, _) => LoadState::Loading,
                (LoadState::Failed(failure), _) => LoadState::Failed(discreet(failure)),
                _ => continue,
            };
            left.entries.insert(name.clone(), whole.with_state(state));
            left.index_again(name);
        }
    }
}

/// Returns a failure without its reason, which may name what a caller must not know of.
fn discreet(failure: &LoadFailure) -> LoadFailure {
    LoadFailure {
        message: "its SQL can't be run".to_owned(),
        hint: Some("the log of the server has the reason".to_owned()),
        at: failure.at,
    }
}

/// Makes views, each once, when another asks for it or it is its turn.
#[derive(Clone, Debug)]
struct Maker(Arc<MakerState>);

#[derive(Debug)]
struct MakerState {
    views: Arc<Views>,
    /// Entries other than views.
    entries: BTreeMap<Name, Entry>,
    generation: u64,
    /// Views of before, which stay if their tables are the same.
    kept: BTreeMap<Name, MadeView>,
    /// For whom they are made; `None` for everybody.
    rights: Option<(Arc<Grants>, Permission)>,
    /// What was made so far. Failures are not kept: they can be due to the view that asked.
    made: Mutex<BTreeMap<Name, MadeView>>,
}

/// What the statement of one view may name.
#[derive(Debug)]
struct Scope {
    maker: Maker,
    /// The views that are being made, each for the one before it; the last is the one whose statement is planned.
    path: Vec<Name>,
    /// The tables that were asked for.
    inputs: Mutex<BTreeMap<Name, Arc<dyn Table>>>,
    /// Levels of views below.
    depth: AtomicUsize,
}

impl Maker {
    fn new(
        views: Arc<Views>,
        contents: &Contents,
        kept: BTreeMap<Name, MadeView>,
        rights: Option<(Arc<Grants>, Permission)>,
    ) -> Self {
        let others = contents.entries.iter().filter(|(name, _)| !views.has(name));
        let entries = others.map(|(name, entry)| (name.clone(), entry.clone())).collect();
        let generation = contents.generation;
        Self(Arc::new(MakerState { views, entries, generation, kept, rights, made: Mutex::default() }))
    }

    /// Returns the view called `name`, for the last view of `path`.
    fn made(&self, name: &Name, path: &[Name]) -> Result<MadeView> {
        if let Some(made) = self.0.made.lock().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(made.clone());
        }
        let made = self.restricted(name, self.make(name, path)?)?;
        self.0.made.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), made.clone());
        Ok(made)
    }

    fn make(&self, name: &Name, path: &[Name]) -> Result<MadeView> {
        let state = &*self.0;
        let Some(spec) = state.views.specs.get(name) else { return Err(Error::internal("there is no such view")) };
        if path.contains(name) {
            let circle = path.iter().skip_while(|other| *other != name).chain([name]);
            let circle: Vec<String> = circle.map(|name| format!("`{name}`")).collect();
            return Err(Error::new(
                Code::Config,
                format!("views read each other in a circle: {}", circle.join(" -> ")),
            )
            .with_hint("write one of them over tables alone"));
        }
        if state.rights.is_some() && spec.runs_as == RunsAs::Owner {
            let made = state.kept.get(name).cloned();
            return made.ok_or_else(|| Error::new(Code::EntryUnavailable, format!("`{name}` can't be read")));
        }
        if path.len() >= VIEWS_DEPTH_MAX {
            return Err(too_deep());
        }
        let path: Vec<Name> = path.iter().chain([name]).cloned().collect();
        if let Some(kept) = state.kept.get(name).filter(|kept| self.is_same(kept, &path)) {
            return Ok(kept.clone());
        }
        let scope = Scope { maker: self.clone(), path, inputs: Mutex::default(), depth: AtomicUsize::new(0) };
        let scope = Arc::new(scope);
        let table = Arc::clone(&state.views.engine).view(spec, Arc::<Scope>::clone(&scope))?;
        let depth = scope.depth.load(Ordering::Relaxed) + 1;
        if depth > VIEWS_DEPTH_MAX {
            return Err(too_deep());
        }
        let inputs = std::mem::take(&mut *scope.inputs.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(MadeView { table, inputs: inputs.into_iter().collect(), depth })
    }

    /// Returns whether a view of before reads the tables that there are now. Tables that grow may have other columns.
    fn is_same(&self, kept: &MadeView, path: &[Name]) -> bool {
        kept.inputs.iter().all(|(name, before)| {
            let now = self.table(name.as_str(), path).ok().flatten();
            now.is_some_and(|(now, _)| Arc::ptr_eq(&now, before) && now.current().is_none())
        })
    }

    /// Returns what is left of a view for the caller.
    fn restricted(&self, name: &Name, made: MadeView) -> Result<MadeView> {
        let Some((grants, permission)) = &self.0.rights else { return Ok(made) };
        let granted = grants.decide(*permission, name.as_str());
        let unknown =
            || Error::new(Code::InvalidSql, format!("no table `{name}`")).with_sql_fault(SqlFault::UnknownTable);
        let granted = granted.ok_or_else(unknown)?;
        let restriction = Restriction::of(&granted);
        if restriction == Restriction::default() {
            return Ok(made);
        }
        let table = Arc::clone(&self.0.views.engine).restrict(&made.table, &restriction)?;
        Ok(MadeView { table, ..made })
    }

    /// Returns the table called `name` with the levels of views that it has, for the last view of `path`.
    fn table(&self, name: &str, path: &[Name]) -> Result<Option<(Arc<dyn Table>, usize)>> {
        if let Some(entry) = self.0.entries.get(name) {
            return entry.require().map(|table| Some((Arc::clone(table), 0)));
        }
        match self.0.views.specs.get_key_value(name) {
            Some((name, _)) => self.made(name, path).map(|made| Some((made.table, made.depth))),
            None => Ok(None),
        }
    }
}

fn too_deep() -> Error {
    Error::new(Code::Config, format!("views are nested deeper than {VIEWS_DEPTH_MAX} levels"))
        .with_hint("write the view over tables, or over views of them")
}

impl Tables for Scope {
    fn table(&self, name: &str) -> Result<Option<Arc<dyn Table>>> {
        let Some((table, depth)) = self.maker.table(name, &self.path)? else { return Ok(None) };
        self.depth.fetch_max(depth, Ordering::Relaxed);
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.insert(table.describe().name.clone(), Arc::clone(&table));
        Ok(Some(table))
    }

    fn list(&self) -> Vec<(Name, Arc<dyn Table>)> {
        let entries = self.maker.0.entries.values();
        entries.filter_map(|entry| Some((entry.name.clone(), Arc::clone(entry.table()?)))).collect()
    }

    fn names(&self) -> Vec<Name> {
        self.maker.0.entries.keys().chain(self.maker.0.views.names()).cloned().collect()
    }

    fn calls(&self, _file: &str) -> bool {
        false
    }

    fn generation(&self) -> u64 {
        self.maker.0.generation
    }
}
