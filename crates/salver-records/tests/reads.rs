//! Reading through the port, on the three databases: the same questions, the same bytes.

mod reads {
    pub(crate) mod cursors;
    pub(crate) mod fast;
    pub(crate) mod features;
    pub(crate) mod fixture;
    pub(crate) mod groups;
    pub(crate) mod joins;
    pub(crate) mod lists;
    pub(crate) mod rules;
    pub(crate) mod streams;
}
