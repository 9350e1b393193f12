//! Parses conditions, and builds the tree that their suffixes define.

use salver_model::limits::PATTERN_BYTES_MAX;
use salver_model::records::{Condition, Operator};
use salver_model::{Code, Error, Result, suggest};

use super::relation_paths;

/// A node: conditions that must all be true, and child nodes of which at least one must be, in the order of the
/// request.
#[derive(Debug, Default)]
pub(super) struct FilterTree {
    own: Vec<Condition>,
    below: Vec<(String, FilterTree)>,
    count: usize,
}

impl FilterTree {
    /// Adds a condition at `path`.
    pub(super) fn put(&mut self, path: &[&str], condition: Option<Condition>) {
        let Some(condition) = condition else { return };
        self.count += 1;
        let Some((first, rest)) = path.split_first() else {
            self.own.push(condition);
            return;
        };
        let at = self.below.iter().position(|(name, _)| name == first).unwrap_or_else(|| {
            self.below.push(((*first).to_owned(), Self::default()));
            self.below.len() - 1
        });
        self.below[at].1.put(rest, Some(condition));
    }

    /// Returns the number of conditions.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Converts the tree to one condition; `None` when it is empty.
    pub(super) fn into_condition(self) -> Option<Condition> {
        let mut all = self.own;
        let mut any: Vec<Condition> = self.below.into_iter().filter_map(|(_, node)| node.into_condition()).collect();
        match any.len() {
            0 => {}
            1 => all.append(&mut any),
            _ => all.push(Condition::Any(any)),
        }
        match all.len() {
            0 => None,
            1 => all.pop(),
            _ => Some(Condition::All(all)),
        }
    }
}

/// Maximum depth of the tree; deeper conditions are added at this depth.
const TREE_DEPTH: usize = 16;

/// Splits a suffix into its path: runs of digits and runs of other characters.
pub(super) fn path(suffix: &str) -> Vec<&str> {
    let mut path = Vec::new();
    let mut rest = suffix;
    while !rest.is_empty() && path.len() < TREE_DEPTH {
        let is_digit = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        path.push(&rest[..end]);
        rest = &rest[end..];
    }
    path
}

/// Parses `column,op[,value]`; `None` when it is malformed and ignored.
///
/// # Errors
/// `InvalidFilter` for a condition that exceeds a limit and, in a strict request, for a malformed one.
pub(super) fn condition(text: &str, strict: bool) -> Result<Option<Condition>> {
    let mut parts = text.splitn(3, ',');
    let (column, word) = (parts.next().unwrap_or_default(), parts.next());
    let value = parts.next().unwrap_or_default();
    let Some(word) = word.filter(|_| !column.is_empty()) else {
        return refuse(strict, || {
            Error::new(Code::InvalidFilter, format!("`{text}` is not a condition"))
                .with_hint("write `column,operator,value`, like `filter=name,eq,Ada`")
        });
    };
    let Some((operator, negated)) = operator(word) else {
        return refuse(strict, || {
            let hint = suggest::hint(word, Operator::ALL.iter().map(|(word, _)| *word));
            Error::new(Code::InvalidFilter, format!("no operator `{word}` in `{text}`")).with_hint_if(hint)
        });
    };
    if strict && operator == Operator::Between && value.split(',').count() != 2 {
        return Err(Error::new(Code::InvalidFilter, format!("`bt` in `{text}` takes two values"))
            .with_hint("write `column,bt,from,to`"));
    }
    let is_pattern = matches!(operator, Operator::Contains | Operator::StartsWith | Operator::EndsWith);
    if is_pattern && value.len() > PATTERN_BYTES_MAX {
        let message = format!("`{word}` looks for at most {PATTERN_BYTES_MAX} bytes of text");
        return Err(Error::new(Code::InvalidFilter, message));
    }
    let path = relation_paths::path("filter", column, Code::InvalidFilter)?;
    Ok(Some(Condition::Test { path, operator, negated, value: value.to_owned() }))
}

fn refuse(strict: bool, error: impl FnOnce() -> Error) -> Result<Option<Condition>> {
    if strict { Err(error()) } else { Ok(None) }
}

/// Parses an operator, and whether it is negated.
fn operator(word: &str) -> Option<(Operator, bool)> {
    let named = |word: &str| Operator::ALL.iter().find(|(own, _)| *own == word).map(|(_, operator)| *operator);
    named(word).map(|operator| (operator, false)).or_else(|| Some((named(word.strip_prefix('n')?)?, true)))
}

#[cfg(test)]
mod tests {
    use salver_model::records::{Condition, Operator, Spatial};

    use super::{FilterTree, condition, operator, path};

    fn tree(filters: &[(&str, &str)]) -> Option<Condition> {
        let mut tree = FilterTree::default();
        for (suffix, text) in filters {
            tree.put(&path(suffix), condition(text, false).unwrap());
        }
        tree.into_condition()
    }

    fn test(column: &str) -> Condition {
        let (path, value) = (vec![column.to_owned()], String::new());
        Condition::Test { path, operator: Operator::IsNull, negated: false, value }
    }

    #[test]
    fn trees() {
        assert_eq!(path("2a10"), ["2", "a", "10"]);
        assert_eq!(tree(&[]), None);
        assert_eq!(tree(&[("", "a,is")]), Some(test("a")));
        assert_eq!(
            tree(&[("", "a,is"), ("1", "b,is"), ("2", "c,is"), ("2", "d,is")]),
            Some(Condition::All(vec![
                test("a"),
                Condition::Any(vec![test("b"), Condition::All(vec![test("c"), test("d")])])
            ]))
        );
        assert_eq!(
            tree(&[("1", "a,is"), ("2a", "b,is"), ("2b", "c,is"), ("1", "x"), ("3", "x,what,1")]),
            Some(Condition::Any(vec![test("a"), Condition::Any(vec![test("b"), test("c")])]))
        );
    }

    #[test]
    fn operators() {
        assert_eq!(operator("neq"), Some((Operator::Equal, true)));
        assert_eq!(operator("nsco"), Some((Operator::Spatial(Spatial::Contains), true)));
        assert_eq!(operator("nis"), Some((Operator::IsNull, true)));
        for none in ["", "n", "nn", "nneq", "EQ", "eqq"] {
            assert_eq!(operator(none), None, "{none}");
        }
    }

    #[test]
    fn values_keep_their_commas() {
        let Some(Condition::Test { path, value, .. }) = condition("a.b,in,1,2,3", true).unwrap() else { panic!() };
        assert_eq!((path, value.as_str()), (vec!["a".to_owned(), "b".to_owned()], "1,2,3"));
        assert!(
            condition("a,bt,1", true).is_err() && condition("a", true).is_err() && condition("a,xx", true).is_err()
        );
    }
}
