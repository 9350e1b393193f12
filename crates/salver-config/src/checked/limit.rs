//! Validates `[[limit]]`.

use std::sync::Arc;

use salver_model::LimitPolicy;
use salver_model::access::{LimitRule, LimitedQuantity, Role};

use super::role;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Returns `None` without limits.
pub(super) fn check(tables: &[Table], known: &[Role], findings: &mut Findings) -> Option<Arc<LimitPolicy>> {
    let mut rules: Vec<LimitRule> = Vec::new();
    for table in tables {
        let rule = rule(table, known, findings);
        let named: Vec<LimitedQuantity> =
            LimitedQuantity::ALL.into_iter().filter(|own| rule.most(*own).is_some()).collect();
        let is_mistaken = LimitedQuantity::ALL.iter().any(|own| table.is_mistaken(own.key()));
        if named.is_empty() && rule.burst.is_none() && !is_mistaken {
            let message = "[[limit]] limits nothing";
            let hint = "add `requests_per_second`, `rows_max` or the like";
            findings.mistake(Mistake::new(&table.place, message).with_hint(hint));
        }
        let has_rate = rule.requests_per_second.is_some_and(|most| most > 0);
        if rule.burst.is_some() && !has_rate && !table.is_mistaken("requests_per_second") {
            let message = "`burst` is about `requests_per_second`, which is not given";
            findings.mistake(Mistake::new(table.place_of("burst"), message).with_hint("add requests_per_second = 10"));
        }
        let is_decided = |quantity: &LimitedQuantity| {
            rules.iter().any(|earlier| earlier.roles.is_none() && earlier.most(*quantity).is_some())
        };
        if !named.is_empty() && named.iter().all(is_decided) {
            let message = "this [[limit]] never decides: limits for everybody stand before it";
            let hint = "put those without `roles` last; the first limit that is about a caller decides";
            findings.mistake(Mistake::new(&table.place, message).with_hint(hint));
        }
        rules.push(rule);
    }
    (!rules.is_empty()).then(|| Arc::new(LimitPolicy::new(known.to_vec(), rules)))
}

fn rule(table: &Table, known: &[Role], findings: &mut Findings) -> LimitRule {
    role::not_empty(table, &["roles"], findings);
    let roles = role::named(table, known, findings);
    let most = |key: &str| table.is_set(key).then(|| table.count(key));
    LimitRule {
        roles,
        requests_per_second: most("requests_per_second"),
        burst: most("burst"),
        concurrent_requests_max: most("concurrent_requests_max"),
        rows_max: most("rows_max"),
        query_ms_max: most("query_ms_max"),
        body_bytes_max: most("body_bytes_max"),
        response_bytes_max: most("response_bytes_max"),
    }
}
