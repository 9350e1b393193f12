//! The settings of roles and access rules, in their written form.

use salver_model::access::{AccessPolicy, AccessRule, Role};

use super::{quoted, texts};

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
pub(super) fn rule(policy: &AccessPolicy, rule: &AccessRule, key: &str) -> Option<String> {
    Some(match key {
        "roles" => {
            let names = rule.roles.as_ref()?.iter().filter_map(|index| policy.roles().get(*index));
            texts(&names.map(|role| role.name.clone()).collect::<Vec<_>>())
        }
        "entries" => texts(&rule.entries),
        "permissions" => texts(&rule.permissions.iter().map(|own| own.word().to_owned()).collect::<Vec<_>>()),
        "deny" => rule.deny.to_string(),
        "columns_hidden" => texts(&rule.columns_hidden),
        _ => quoted(rule.rows.as_ref()?.text()),
    })
}
