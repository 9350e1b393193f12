//! Paths with parameters: `/fib/<n:int>`, `/users/{id}`.

use salver_model::functions::ParameterKind;

use crate::segment::segment;

/// A path with parameters, each a whole segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    segments: Box<[Segment]>,
    /// Whether further segments may follow.
    prefix: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Literal(String),
    Parameter(String, ParameterKind),
}

impl Pattern {
    /// Parses a path as user code declares it. A trailing slash is ignored.
    pub(crate) fn new(path: &str, prefix: bool) -> Self {
        Self { segments: split(path).map(Segment::new).collect(), prefix }
    }

    /// Returns the path itself, when it has no parameters and is not a prefix.
    pub(crate) fn literal(&self) -> Option<String> {
        let literal = |segment: &Segment| match segment {
            Segment::Literal(text) => Some(format!("/{text}")),
            Segment::Parameter(..) => None,
        };
        let path: Option<String> = self.segments.iter().map(literal).collect();
        path.filter(|_| !self.prefix)
    }

    /// Returns the decoded values of the parameters in `path`; `None` when it does not match.
    pub(crate) fn values(&self, path: &str) -> Option<Vec<(String, String)>> {
        let mut values = Vec::new();
        let mut given = split(path);
        for own in &self.segments {
            let text = given.next()?;
            match own {
                Segment::Literal(literal) => {
                    (literal == text || text.contains('%') && *literal == segment(text)).then_some(())?;
                }
                Segment::Parameter(name, kind) => {
                    let value = segment(text);
                    fits(*kind, &value).then_some(())?;
                    values.push((name.clone(), value.into_owned()));
                }
            }
        }
        (self.prefix || given.next().is_none()).then_some(values)
    }

    /// Formats the path as in OpenAPI.
    pub(crate) fn template(&self) -> String {
        let part = |segment: &Segment| match segment {
            Segment::Literal(text) => format!("/{text}"),
            Segment::Parameter(name, _) => format!("/{{{name}}}"),
        };
        let path: String = self.segments.iter().map(part).collect();
        if path.is_empty() { "/".to_owned() } else { path }
    }

    /// Returns the names of its parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Parameter(name, _) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }
}

/// Splits a path into segments; `/` has none.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let trimmed = path.trim_start_matches('/').trim_end_matches('/');
    trimmed.split('/').take(if trimmed.is_empty() { 0 } else { usize::MAX })
}

impl Segment {
    fn new(text: &str) -> Self {
        let inner = [('<', '>'), ('{', '}')]
            .into_iter()
            .find_map(|(open, close)| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)));
        match inner.filter(|inner| !inner.is_empty()) {
            Some(inner) => {
                let (name, kind) = inner.split_once(':').unwrap_or((inner, ""));
                Self::Parameter(name.to_owned(), kind_named(kind))
            }
            None => Self::Literal(text.to_owned()),
        }
    }
}

/// Parses the type of a parameter, as plumber and Python name it.
fn kind_named(word: &str) -> ParameterKind {
    match word.trim_matches(['[', ']']) {
        "int" | "integer" => ParameterKind::Integer,
        "dbl" | "double" | "float" | "number" | "numeric" => ParameterKind::Number,
        "bool" | "boolean" | "logical" => ParameterKind::Boolean,
        "str" | "string" | "chr" | "character" => ParameterKind::Text,
        _ => ParameterKind::Any,
    }
}

/// Returns whether a segment is a valid value of this type; otherwise the path does not match, as in plumber.
fn fits(kind: ParameterKind, text: &str) -> bool {
    match kind {
        ParameterKind::Integer => text.parse::<i64>().is_ok(),
        ParameterKind::Number => text.parse::<f64>().is_ok(),
        ParameterKind::Boolean => matches!(text, "true" | "false" | "TRUE" | "FALSE" | "True" | "False" | "0" | "1"),
        _ => !text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn paths() {
        let fib = Pattern::new("/fib/<n:int>/of/{who}", false);
        assert_eq!(fib.template(), "/fib/{n}/of/{who}");
        assert_eq!(fib.literal(), None);
        let found = |path: &str| fib.values(path).map(|values| values.into_iter().map(|(_, v)| v).collect::<Vec<_>>());
        assert_eq!(found("/fib/10/of/a%20b"), Some(vec!["10".to_owned(), "a b".to_owned()]));
        for other in ["/fib/x/of/a", "/fib/10/of", "/fib/10/of/a/b", "/", ""] {
            assert_eq!(found(other), None, "{other}");
        }
        assert_eq!(Pattern::new("/a/b/", false).literal().as_deref(), Some("/a/b"));
        assert_eq!(Pattern::new("/", false).literal().as_deref(), Some(""));
        assert!(Pattern::new("/files", true).values("/files/a/b").is_some());
        assert!(Pattern::new("/files", true).values("/fil").is_none());
    }
}
