//! Who asks, as far as a door knows.

use std::net::IpAddr;

/// Who asks. Rules over rows see it as `caller.NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Where the request came from, behind a trusted proxy what that says; `None` for callers inside the process.
    pub address: Option<IpAddr>,
    /// What is known of the caller by name, like `user` or `tenant`.
    pub attributes: Vec<(String, String)>,
}

impl Caller {
    /// The attribute `name`; `address` is one too.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<String> {
        if name == "address" {
            return self.address.map(|address| address.to_string());
        }
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }
}
