//! Which rules never decide, since others before them decide all that they are about.

use salver_model::access::AccessRule;
use salver_model::spec::matches_pattern;

/// Returns the numbers, from 0, of the rules before the last of `rules` that leave it nothing to decide; `None` if it
/// decides something.
pub(super) fn covering(rules: &[AccessRule]) -> Option<Vec<usize>> {
    let (last, before) = rules.split_last()?;
    let roles: Vec<Option<usize>> = match &last.roles {
        Some(roles) => roles.iter().copied().map(Some).collect(),
        None => vec![None],
    };
    let mut numbers = Vec::new();
    for role in &roles {
        for permission in &last.permissions {
            for pattern in &last.entries {
                let covers = |rule: &AccessRule| {
                    let is_for = rule.roles.as_ref().is_none_or(|own| role.is_some_and(|role| own.contains(&role)));
                    // What a `*` of the later pattern can stand for was matched by a `*` of the earlier one.
                    let is_about = || rule.entries.iter().any(|own| matches_pattern(own, pattern));
                    is_for && rule.permissions.contains(permission) && is_about()
                };
                numbers.push(before.iter().position(covers)?);
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use salver_model::Permission;
    use salver_model::access::AccessRule;

    use super::covering;

    fn rule(roles: Option<&[usize]>, entries: &[&str], permissions: &[Permission]) -> AccessRule {
        AccessRule {
            roles: roles.map(<[usize]>::to_vec),
            entries: entries.iter().map(|own| (*own).to_owned()).collect(),
            permissions: permissions.to_vec(),
            ..AccessRule::default()
        }
    }

    #[test]
    fn what_is_left_to_decide() {
        let reading = Permission::READING;
        let all = || rule(None, &["*"], &reading);
        let of = |roles: &[usize], entries: &[&str]| rule(Some(roles), entries, &reading);
        for (rules, expected) in [
            (vec![all()], None),
            (vec![all(), of(&[0], &["a"])], Some(vec![0])),
            (vec![of(&[0], &["a"]), all()], None),
            (vec![of(&[0], &["*"]), of(&[1], &["a"])], None),
            (vec![of(&[0], &["a"]), of(&[1], &["*"]), of(&[0, 1], &["a"])], Some(vec![0, 1])),
            (vec![of(&[0], &["a*"]), of(&[0], &["ab*"])], Some(vec![0])),
            (vec![of(&[0], &["ab*"]), of(&[0], &["a*"])], None),
            (vec![of(&[0], &["a", "b"]), of(&[0], &["a", "c"])], None),
            (vec![all(), rule(None, &["a"], &[Permission::Read, Permission::Call])], None),
            (
                vec![all(), rule(None, &["a"], &[Permission::Call]), rule(None, &["a"], &[Permission::Read])],
                Some(vec![0]),
            ),
        ] {
            assert_eq!(covering(&rules), expected, "{rules:?}");
        }
    }
}
