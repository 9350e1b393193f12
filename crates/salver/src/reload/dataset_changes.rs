//! The datasets that differ between two settings.

use salver_model::Name;
use salver_model::spec::DatasetSpec;

use super::count;

/// The datasets that differ.
pub(super) struct DatasetChanges<'s> {
    pub(super) new: Vec<&'s DatasetSpec>,
    /// Those that were there, and are declared otherwise now.
    pub(super) other: Vec<&'s DatasetSpec>,
    pub(super) gone: Vec<Name>,
}

impl<'s> DatasetChanges<'s> {
    pub(super) fn between(before: &[DatasetSpec], after: &'s [DatasetSpec]) -> Self {
        let find = |specs: &[DatasetSpec], name: &Name| specs.iter().position(|spec| spec.name == *name);
        let (old, new): (Vec<_>, Vec<_>) = after.iter().partition(|spec| find(before, &spec.name).is_some());
        let is_other = |spec: &&DatasetSpec| find(before, &spec.name).is_some_and(|at| before[at] != **spec);
        let gone = before.iter().map(|spec| &spec.name).filter(|name| find(after, name).is_none());
        Self { new, other: old.into_iter().filter(is_other).collect(), gone: gone.cloned().collect() }
    }

    /// Describes them.
    pub(super) fn told(&self) -> Vec<String> {
        let parts = [(self.new.len(), "new"), (self.other.len(), "changed"), (self.gone.len(), "gone")];
        parts.into_iter().filter_map(|(number, how)| count(number, "dataset", how)).collect()
    }
}
