//! Tables held for exports, on the three databases: whatever is written, the rows stay what they were.

mod holds {
    pub(crate) mod bounds;
    pub(crate) mod fixture;
    pub(crate) mod journals;
    pub(crate) mod layouts;
    pub(crate) mod losses;
    pub(crate) mod measure;
    pub(crate) mod parts;
    pub(crate) mod rules;
    pub(crate) mod values;
    pub(crate) mod writers;
}
