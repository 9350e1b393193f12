//! The access model: which callers may do what with which entries, and which columns and rows they see of them.
//!
//! The first rule that is about a caller, an entry and a permission decides; without one the answer is no. So the
//! order of the rules is their meaning, as in `pg_hba.conf` and in firewalls, and one rule tells why:
//!
//! ```text
//! role      entries        permissions     columns_hidden   rows
//! analyst   sales, shop.*  read sql        email            region = caller.region
//! *         public_*       (reading)
//! ```
//!
//! The policy is asked through [`Grants`], which are made once for all callers that it can't tell apart.

mod column_restriction;
mod grants;
mod limit;
mod permission;
mod policy_rules;
mod restriction;

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use ahash::{AHashMap, RandomState};
use arc_swap::ArcSwap;
use smallvec::SmallVec;

use crate::network::Network;
use crate::principal::Principal;
use crate::rule::Rule;
use crate::spec::{DatabaseSpec, matches_pattern};

use self::grants::SharedGrants;
pub use column_restriction::ColumnRestriction;
pub use grants::{Granted, Grants};
pub use limit::{Bound, CallerLimits, ConcurrentRequests, LimitPolicy, LimitRule, LimitedQuantity, RequestRate};
pub use permission::Permission;
pub use policy_rules::PolicyRules;
pub use restriction::Restriction;

/// The entry that `administer` is given for where it is about the server's measurements.
pub const METRICS: &str = "metrics";
/// Rights that are kept, of callers that the policy tells apart. Each has views of the catalog, about a kilobyte for an
/// entry of which something is kept back.
const GRANTS_KEPT: usize = 512;

/// A group of callers. All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Role {
    /// Name of the role.
    pub name: String,
    /// Identities of its callers, as [`Principal::identity`] has them; empty for any.
    pub callers: Vec<String>,
    /// Addresses of its callers; empty for any.
    pub addresses: Vec<Network>,
    /// Predicate over the attributes of the caller, which names no column.
    pub when: Option<Rule>,
}

impl Role {
    fn has(&self, caller: &Principal) -> bool {
        let is_named = || caller.identity().is_some_and(|own| self.callers.iter().any(|name| name == own));
        let is_near = || caller.address.is_some_and(|own| self.addresses.iter().any(|network| network.holds(own)));
        (self.callers.is_empty() || is_named())
            && (self.addresses.is_empty() || is_near())
            && self.when.as_ref().is_none_or(|when| when.is_for(caller))
    }
}

/// One rule of the policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessRule {
    /// Roles, by their index in the policy; `None` for every caller.
    pub roles: Option<Vec<usize>>,
    /// Entries, by name or pattern with `*`. A table of a database is `database.table`.
    pub entries: Vec<String>,
    /// What is decided.
    pub permissions: Vec<Permission>,
    /// Whether it is refused.
    pub deny: bool,
    /// Columns that are kept back.
    pub columns: ColumnRestriction,
    /// Predicate over the row and its caller: no other rows are there.
    pub rows: Option<Rule>,
}

impl AccessRule {
    /// Returns whether the rule is about this entry.
    #[must_use]
    pub fn is_about(&self, entry: &str) -> bool {
        self.entries.iter().any(|pattern| matches_pattern(pattern, entry))
    }
}

/// Every role and rule, and the callers that were asked for.
#[derive(Debug, Default)]
pub struct AccessPolicy {
    /// Shared with the rights, which must not hold the policy: it holds them.
    rules: Arc<PolicyRules>,
    /// Callers that were asked for, by their hash. Every request looks, so that looking must write nothing that other
    /// processors read.
    known: ArcSwap<AHashMap<u64, Vec<Arc<KnownCaller>>>>,
    hashing: RandomState,
    /// Numbers of the sets of roles and exceptions that callers have. Held while a caller becomes known.
    classes: Mutex<AHashMap<Box<[bool]>, u64>>,
}

impl Deref for AccessPolicy {
    type Target = PolicyRules;

    fn deref(&self) -> &PolicyRules {
        &self.rules
    }
}

impl PartialEq for AccessPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.rules.decide_alike(&other.rules)
    }
}

/// A caller, as far as the policy tells it from others, and its rights.
#[derive(Debug)]
struct KnownCaller {
    address: Option<IpAddr>,
    key: Vec<Option<String>>,
    grants: SharedGrants,
}

impl From<PolicyRules> for AccessPolicy {
    fn from(rules: PolicyRules) -> Self {
        Self { rules: Arc::new(rules), ..Self::default() }
    }
}

impl AccessPolicy {
    /// Creates a policy.
    #[must_use]
    pub fn new(roles: Vec<Role>, rules: Vec<AccessRule>) -> Self {
        PolicyRules::new(roles, rules).into()
    }

    /// Creates the policy under which every caller may do everything, but for what databases keep back.
    #[must_use]
    pub fn open() -> Self {
        PolicyRules::open().into()
    }

    /// Returns the policy, which also tells callers apart that rules or tenancies of `databases` do.
    #[must_use]
    pub fn with_databases<'s>(self, databases: impl Iterator<Item = &'s DatabaseSpec> + Clone) -> Self {
        Arc::unwrap_or_clone(self.rules).with_databases(databases).into()
    }

    /// Returns what the caller may do.
    #[must_use]
    pub fn grants(&self, caller: &Principal) -> Arc<Grants> {
        let (address, key) = (self.address(caller), self.key(caller));
        let hash = self.hashing.hash_one((address, &key));
        let is = |known: &Arc<KnownCaller>| {
            known.address == address && key.iter().copied().eq(known.key.iter().map(Option::as_deref))
        };
        let found = |known: &AHashMap<u64, Vec<Arc<KnownCaller>>>| {
            let same = known.get(&hash)?.iter().find(|known| is(known))?;
            Some(same.grants.get())
        };
        if let Some(grants) = found(&self.known.load()) {
            return grants;
        }
        let mut classes = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.known.load();
        if let Some(grants) = found(&known) {
            return grants;
        }
        // A caller may have any number of names: those that come again are found again.
        let mut known = if known.len() >= GRANTS_KEPT { AHashMap::new() } else { AHashMap::clone(&known) };
        let roles: Box<[bool]> = self.roles().iter().map(|role| role.has(caller)).collect();
        let excepted = self.exceptions().iter().map(|except| except.is_for(caller));
        let class = class(&mut classes, roles.iter().copied().chain(excepted).collect());
        let grants = SharedGrants::new(Grants::new(Arc::clone(&self.rules), caller, class, roles));
        let own = grants.get();
        let key = key.iter().map(|part| part.map(str::to_owned)).collect();
        known.entry(hash).or_default().push(Arc::new(KnownCaller { address, key, grants }));
        self.known.store(Arc::new(known));
        own
    }

    /// Returns what tells callers apart. The identity is not among the attributes, since a proxy may send one of that
    /// name.
    fn key<'c>(&self, caller: &'c Principal) -> SmallVec<[Option<&'c str>; 8]> {
        [caller.identity()].into_iter().chain(self.attributes().iter().map(|name| caller.text(name))).collect()
    }

    fn address(&self, caller: &Principal) -> Option<IpAddr> {
        caller.address.filter(|_| self.asks_address())
    }
}

/// Returns the number of callers that have these roles and are excepted from these rules.
fn class(classes: &mut AHashMap<Box<[bool]>, u64>, traits: Box<[bool]>) -> u64 {
    if classes.len() >= GRANTS_KEPT && !classes.contains_key(&traits) {
        classes.clear();
    }
    *classes.entry(traits).or_insert_with(grants::next_number)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AccessPolicy, Grants};
    use crate::principal::Principal;

    /// What is kept for callers goes with the policy: nothing of it holds itself.
    #[test]
    fn rights_end_with_their_policy() {
        let policy = AccessPolicy::open();
        let grants = policy.grants(&Principal::default());
        assert!(Arc::ptr_eq(&grants, &policy.grants(&Principal::default())));
        let kept = Arc::downgrade(&grants);
        drop(grants);
        assert!(kept.upgrade().is_some());
        drop(policy);
        assert!(kept.upgrade().as_deref().map(Grants::id).is_none());
    }

    /// Threads have rights of their own, which are the same, and keep the same.
    #[test]
    fn rights_are_the_same_on_every_thread() {
        let policy = AccessPolicy::open();
        let ask = || policy.grants(&Principal::default());
        let own = ask();
        let others: Vec<Arc<Grants>> =
            std::thread::scope(|scope| (0..20).map(|_| scope.spawn(ask).join().expect("rights")).collect());
        let kept = |grants: &Grants| std::ptr::from_ref(grants.kept::<String>().expect("a text"));
        assert!(others.iter().all(|other| *other == own && kept(other) == kept(&own)));
        assert!(others.iter().any(|other| !Arc::ptr_eq(other, &own)));
    }
}
