//! Changes through the port, on the three databases: what is answered, what is stored, what is refused.

#![allow(clippy::unwrap_used)]

mod changes {
    pub(crate) mod batches;
    pub(crate) mod definitions;
    pub(crate) mod extensions;
    pub(crate) mod fixture;
    pub(crate) mod keys;
    pub(crate) mod loads;
    pub(crate) mod rules;
    pub(crate) mod together;
    pub(crate) mod values;
}
