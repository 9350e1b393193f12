//! How the doors behave where an operator may choose.

use salver_formats::Format;

/// How the doors behave where an operator may choose.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// A path before every route, like `/data`; empty for none.
    pub base_path: String,
    /// Whether JSON leaves out null fields, as ROAPI does, in place of writing `null`.
    pub omit_nulls: bool,
    /// Whether an unknown table is 400, as in ROAPI, in place of 404.
    pub unknown_table_400: bool,
    /// Whether pages of other origins may read answers.
    pub cors: bool,
    /// Whether each request is logged.
    pub access_log: bool,
    /// The format of rows when the client leaves the choice.
    pub default_format: Format,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            base_path: String::new(),
            omit_nulls: false,
            unknown_table_400: false,
            cors: false,
            access_log: false,
            default_format: Format::Json,
        }
    }
}
