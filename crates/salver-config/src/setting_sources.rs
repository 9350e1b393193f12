//! What settings are made of, before any of it is read.

use std::path::PathBuf;

use salver_model::spec::{DatabaseSpec, DatasetSpec, FunctionSpec, Secret};

/// Setting given on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Key with its section: `server.listen`.
    pub key: &'static str,
    /// Value.
    pub value: String,
    /// Option as typed, for messages: `--listen nowhere`.
    pub typed: String,
}

/// Sources of settings. [`Sources::default`] has none of them and gives the defaults.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Configuration file.
    pub file: Option<PathBuf>,
    /// Text of the file, if it was read before; else it is read.
    pub text: Option<Secret>,
    /// Whole environment: variables with the prefix `SALVER_` are settings, any may stand in a text of the file.
    pub environment: Vec<(String, String)>,
    /// Settings given on the command line.
    pub overrides: Vec<Override>,
    /// Datasets, databases and files of functions given on the command line, `FILE`, `sqlite:PATH` or
    /// `NAME=URI[,key=value]...`; each replaces the one with its name.
    pub datasets: Vec<String>,
    /// Further sheets of workbooks that are given on the command line.
    pub sheets: Vec<DatasetSpec>,
    /// Datasets found in directories; declared ones with the same name or files take precedence.
    pub discovered: Vec<DatasetSpec>,
    /// Databases found in directories; declared ones take precedence too.
    pub discovered_databases: Vec<DatabaseSpec>,
    /// Files of functions found in directories; declared ones take precedence too.
    pub discovered_functions: Vec<FunctionSpec>,
}
