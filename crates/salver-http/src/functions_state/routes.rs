//! Routes requests to the endpoints of a file. Built once per interface, and kept until that changes.

use ahash::AHashMap;
use salver_model::functions::{Endpoint, Interface, Matching};

use super::pattern::Pattern;

/// The routes of a file.
#[derive(Debug)]
pub(crate) struct Routes {
    /// Paths without parameters, with the indexes of their endpoints.
    exact: AHashMap<String, Vec<usize>>,
    /// All other paths, in the order of the file.
    patterns: Vec<(Pattern, usize)>,
    methods: Vec<String>,
}

/// The result of a lookup.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    /// An endpoint, and the values of its path parameters.
    Endpoint(usize, Vec<(String, String)>),
    /// The path exists, but not for this method; the list of the methods it supports.
    Methods(String),
    /// The path does not exist.
    Nothing,
}

impl Routes {
    pub(super) fn new(interface: &Interface) -> Self {
        let mut routes = Self { exact: AHashMap::new(), patterns: Vec::new(), methods: Vec::new() };
        for (index, endpoint) in interface.endpoints.iter().enumerate() {
            routes.methods.push(endpoint.route.as_ref().map(|(method, _)| method.clone()).unwrap_or_default());
            let Some(pattern) = pattern(endpoint) else { continue };
            match pattern.literal() {
                Some(path) => routes.exact.entry(path).or_default().push(index),
                None => routes.patterns.push((pattern, index)),
            }
        }
        routes
    }

    /// Looks up `path`, relative to the mount point of the file. Paths without parameters take precedence.
    pub(crate) fn find(&self, method: &str, path: &str) -> Found {
        let mut there = Vec::new();
        let exact = self.exact.get(path.trim_end_matches('/')).into_iter().flatten();
        let exact = exact.map(|index| (*index, Some(Vec::new())));
        let others = self.patterns.iter().map(|(pattern, index)| (*index, pattern.values(path)));
        for (index, values) in exact.chain(others) {
            let Some(values) = values else { continue };
            if self.answers(index, method) {
                return Found::Endpoint(index, values);
            }
            there.push(self.methods[index].as_str());
        }
        if there.is_empty() {
            return Found::Nothing;
        }
        if there.contains(&"GET") {
            there.push("HEAD");
        }
        there.push("OPTIONS");
        there.dedup();
        Found::Methods(there.join(", "))
    }

    fn answers(&self, index: usize, method: &str) -> bool {
        let own = self.methods[index].as_str();
        own == method || own == "*" || (own == "GET" && method == "HEAD")
    }
}

/// Returns the path of an endpoint, if it has one.
pub(crate) fn pattern(endpoint: &Endpoint) -> Option<Pattern> {
    let (_, path) = endpoint.route.as_ref()?;
    Some(Pattern::new(path, endpoint.matching == Matching::Prefix))
}

#[cfg(test)]
mod tests {
    use salver_model::functions::{Endpoint, Interface};

    use super::{Found, Routes};

    #[test]
    fn an_exact_path_comes_first() {
        let route = |method: &str, path: &str| Endpoint {
            route: Some((method.to_owned(), path.to_owned())),
            ..Endpoint::default()
        };
        let endpoints = vec![route("GET", "/a/<x>"), route("GET", "/a/b"), route("POST", "/a/<x>"), route("*", "/any")];
        let routes = Routes::new(&Interface { endpoints, ..Interface::default() });
        assert_eq!(routes.find("GET", "/a/b"), Found::Endpoint(1, Vec::new()));
        assert_eq!(routes.find("HEAD", "/a/b/"), Found::Endpoint(1, Vec::new()));
        assert_eq!(routes.find("GET", "/a/c"), Found::Endpoint(0, vec![("x".to_owned(), "c".to_owned())]));
        assert_eq!(routes.find("POST", "/a/b"), Found::Endpoint(2, vec![("x".to_owned(), "b".to_owned())]));
        assert_eq!(routes.find("PATCH", "/any"), Found::Endpoint(3, Vec::new()));
        assert_eq!(routes.find("PUT", "/a/c"), Found::Methods("GET, POST, HEAD, OPTIONS".to_owned()));
        assert_eq!(routes.find("GET", "/c"), Found::Nothing);
    }
}
