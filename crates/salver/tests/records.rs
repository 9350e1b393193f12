//! Records over real databases: the real program beside a real SQLite, MariaDB and PostgreSQL, and the same bytes from
//! each. One binary, so that linking is paid once and every server starts once.

mod records {
    pub(crate) mod client;
    pub(crate) mod fixture;
    pub(crate) mod posted;
    pub(crate) mod program;

    mod absent;
    mod altered;
    mod assumed_keys;
    mod auth;
    mod averages;
    mod batches;
    mod beyond;
    mod binary;
    mod catalog;
    mod compared;
    mod edges;
    mod errors;
    mod every_type;
    mod exact;
    mod fault_injection;
    mod gate;
    mod golden;
    mod hidden_keys;
    mod hooks;
    mod injection;
    mod joins;
    mod keys;
    mod killed;
    mod masks;
    mod mixed;
    mod once;
    mod one_state;
    mod operators;
    mod own;
    mod pages;
    mod returned_keys;
    mod rules;
    mod server_types;
    mod shapes;
    mod told;
    mod values;
    mod ways;
    mod written;
    mod zones;
}
