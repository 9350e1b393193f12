//! A row of the table of declared routes.

use salver_model::Name;

use crate::routes::pattern::Pattern;
use crate::routes::{Family, Methods};

/// A declared route.
#[derive(Debug)]
pub(super) struct DeclaredRow {
    pub(super) pattern: Pattern,
    pub(super) methods: Methods,
    pub(super) target: DeclaredTarget,
    /// Stream or file of functions that declares it.
    pub(super) entry: Name,
    /// The route and its place, for the log.
    pub(super) shown: String,
    /// Whether the path is the server's own.
    pub(super) is_taken: bool,
}

/// What a declared route leads to. Files are meant by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredTarget {
    /// Appends an event to the stream.
    Stream,
    /// Calls a function: the file, and the index of the endpoint.
    Endpoint(usize, usize),
    /// Passes the request to an application: the file, and the index of the endpoint where it told that.
    Application(usize, Option<usize>),
    /// A path below the mount point of a file whose routes are not known yet.
    Unloaded(usize),
}

impl DeclaredRow {
    /// Creates a row, which `shown` names in the log.
    pub(super) fn new(pattern: Pattern, methods: Methods, target: DeclaredTarget, entry: &Name, shown: String) -> Self {
        Self { pattern, methods, target, entry: entry.clone(), shown, is_taken: false }
    }

    /// Returns the family of the doors that answer it.
    pub(super) fn family(&self) -> Family {
        if self.target == DeclaredTarget::Stream { Family::Streams } else { Family::Functions }
    }

    /// Returns whether it stands for all paths below a mount point.
    pub(super) fn is_mount(&self) -> bool {
        matches!(self.target, DeclaredTarget::Application(_, None) | DeclaredTarget::Unloaded(_))
    }
}

impl DeclaredTarget {
    /// Returns the index of the file.
    pub(crate) fn file(self) -> Option<usize> {
        match self {
            Self::Stream => None,
            Self::Endpoint(file, _) | Self::Application(file, _) | Self::Unloaded(file) => Some(file),
        }
    }

    /// Returns whether it is an application's.
    pub(super) fn is_application(self) -> bool {
        matches!(self, Self::Application(..))
    }
}
