//! The settings of roles, access rules and limits of callers, in their written form.

use salver_model::access::{AccessRule, LimitRule, Role};

use super::{pairs_unless_empty, quoted, texts};

/// Returns the value of a role's setting; `None` when it was not given.
pub(super) fn role(role: &Role, key: &str) -> Option<String> {
    Some(match key {
        "name" => quoted(&role.name),
        // An empty list is a mistake, since it would mean all.
        "callers" if role.callers.is_empty() => return None,
        "callers" => texts(&role.callers),
        "addresses" if role.addresses.is_empty() => return None,
        "addresses" => texts(&role.addresses.iter().map(ToString::to_string).collect::<Vec<_>>()),
        _ => quoted(role.when.as_ref()?.text()),
    })
}

/// Returns the value of a rule's setting; `None` when it was not given.
pub(super) fn rule(roles: &[Role], rule: &AccessRule, key: &str) -> Option<String> {
    Some(match key {
        "roles" => names(roles, rule.roles.as_deref()?),
        "entries" => texts(&rule.entries),
        "permissions" => texts(&rule.permissions.iter().map(|own| own.word().to_owned()).collect::<Vec<_>>()),
        "deny" => rule.deny.to_string(),
        "columns_hidden" => texts(&rule.columns.hidden),
        "columns_masked" => {
            let masks = rule.columns.masked.iter().map(|own| (own.columns.clone(), own.mask.text().to_owned()));
            return pairs_unless_empty(&masks.collect::<Vec<_>>());
        }
        _ => quoted(rule.rows.as_ref()?.text()),
    })
}

/// Returns the value of a limit's setting; `None` when it was not given.
pub(super) fn limit(roles: &[Role], rule: &LimitRule, key: &str) -> Option<String> {
    let most = match key {
        "roles" => return Some(names(roles, rule.roles.as_deref()?)),
        "requests_per_second" => rule.requests_per_second,
        "burst" => rule.burst,
        "concurrent_requests_max" => rule.concurrent_requests_max,
        "rows_max" => rule.rows_max,
        "query_ms_max" => rule.query_ms_max,
        "body_bytes_max" => rule.body_bytes_max,
        _ => rule.response_bytes_max,
    };
    most.map(|most| most.to_string())
}

fn names(roles: &[Role], indexes: &[usize]) -> String {
    let named = indexes.iter().filter_map(|index| roles.get(*index));
    texts(&named.map(|role| role.name.clone()).collect::<Vec<_>>())
}
