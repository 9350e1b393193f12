//! What one caller may do: the policy, as it is for callers that it can't tell apart.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use ahash::AHashMap;

use super::{AccessRule, Permission, PolicyRules};
use crate::filter::Filter;
use crate::mask::Mask;
use crate::principal::Principal;

/// Entries whose decisions are kept, for each caller.
const GRANTED_ENTRIES_KEPT: usize = 4096;

/// The rights of a caller.
pub struct Grants {
    id: u64,
    class: u64,
    policy: Arc<PolicyRules>,
    /// The caller as the rules see it.
    caller: Principal,
    /// Of each role whether the caller has it.
    roles: Box<[bool]>,
    /// What the service keeps for callers with these rights; one for all copies.
    kept: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
    /// Decisions made before, by entry: the rule of each permission, by number.
    decided: RwLock<AHashMap<Box<str>, [Option<u32>; Permission::COUNT]>>,
}

/// Without the rules, of which there may be many.
impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grants").field("id", &self.id).field("roles", &self.roles).finish_non_exhaustive()
    }
}

/// The rights of a caller, for the threads that ask for them.
///
/// Every request holds its caller's rights, and counting the references to one object would write what the other
/// processors are reading. So threads have copies of their own, as far as these go.
#[derive(Debug)]
pub(super) struct SharedGrants {
    made: Grants,
    copies: [OnceLock<Arc<Grants>>; COPIES],
}

/// Copies of the rights of a caller.
const COPIES: usize = 8;

impl SharedGrants {
    pub(super) fn new(grants: Grants) -> Self {
        Self { made: grants, copies: [const { OnceLock::new() }; COPIES] }
    }

    /// Returns the copy of this thread.
    pub(super) fn get(&self) -> Arc<Grants> {
        Arc::clone(self.copies[place()].get_or_init(|| Arc::new(self.made.copy())))
    }
}

/// Returns which copy is that of this thread.
fn place() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % COPIES;
    }
    OWN.with(|own| *own)
}

/// Rights are the same only if they are one: their number stands in keys of caches.
impl PartialEq for Grants {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Grants {}

/// A permission that a rule gives, with what it keeps back.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a> {
    /// Number of the rule, from 0.
    pub number: usize,
    /// The rule.
    pub rule: &'a AccessRule,
    caller: &'a Principal,
}

impl<'a> Granted<'a> {
    /// Returns whether the column is there.
    #[must_use]
    pub fn shows(&self, column: &str) -> bool {
        self.rule.columns.shows(column)
    }

    /// Returns what masks the column; `None` for one that has its own values.
    #[must_use]
    pub fn mask(&self, column: &str) -> Option<&'a Mask> {
        self.rule.columns.mask(column)
    }

    /// Returns the filter of the rows that are there; `None` for all rows.
    #[must_use]
    pub fn filter(&self) -> Option<Filter> {
        self.rule.rows.as_ref().map(|rows| rows.filter(self.caller))
    }

    /// Returns whether everything of the entry is there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.rule.columns.is_empty() && self.rule.rows.is_none()
    }
}

/// Returns a number that was never returned before.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Grants {
    pub(super) fn new(policy: Arc<PolicyRules>, caller: &Principal, class: u64, roles: Box<[bool]>) -> Self {
        let (id, caller) = (next_number(), caller.clone());
        Self { id, class, policy, caller, roles, kept: Arc::default(), decided: RwLock::default() }
    }

    /// Returns the same rights once more.
    fn copy(&self) -> Self {
        let (policy, caller, kept) = (Arc::clone(&self.policy), self.caller.clone(), Arc::clone(&self.kept));
        Self { policy, caller, roles: self.roles.clone(), kept, decided: RwLock::default(), ..*self }
    }

    /// Returns a number that no other rights of this process have.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number of the caller's roles and exceptions. Callers that have the same are decided by the same
    /// rules: they see the same entries and columns, and may see other rows.
    #[must_use]
    pub fn class(&self) -> u64 {
        self.class
    }

    /// Returns what is kept for callers with these rights, as long as these are known; `None` if it is of another type.
    #[must_use]
    pub fn kept<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        self.kept.get_or_init(|| Box::new(T::default())).downcast_ref()
    }

    /// Returns the caller, with every attribute that a rule names.
    #[must_use]
    pub fn caller(&self) -> &Principal {
        &self.caller
    }

    /// Returns the roles and rules that decide.
    #[must_use]
    pub fn policy(&self) -> &PolicyRules {
        &self.policy
    }

    /// Returns the names of the caller's roles.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.policy.roles().iter().zip(&self.roles).filter(|(_, has)| **has).map(|(role, _)| role.name.as_str())
    }

    /// Decides whether the caller has the permission for an entry; `None` if not.
    #[must_use]
    pub fn decide(&self, permission: Permission, entry: &str) -> Option<Granted<'_>> {
        let number = self.rule_number(permission, entry)? as usize;
        let rule = self.policy.rules().get(number).filter(|rule| !rule.deny)?;
        Some(Granted { number, rule, caller: &self.caller })
    }

    /// Returns whether the caller may do anything at all with the entry, so that it may know of it.
    #[must_use]
    pub fn knows(&self, entry: &str) -> bool {
        Permission::ALL.iter().any(|(_, permission)| self.decide(*permission, entry).is_some())
    }

    /// Returns whether a rule gives the caller the permission for any entry, which need not be there.
    #[must_use]
    pub fn may_anywhere(&self, permission: Permission) -> bool {
        let gives =
            |rule: &AccessRule| !rule.deny && rule.permissions.contains(&permission) && self.is_for_caller(rule);
        self.policy.rules().iter().any(gives)
    }

    /// Returns the number of the rule that decides.
    #[must_use]
    pub fn rule_number(&self, permission: Permission, entry: &str) -> Option<u32> {
        if let Some(decided) = self.decided.read().unwrap_or_else(PoisonError::into_inner).get(entry) {
            return decided[permission as usize];
        }
        let decided = Permission::ALL.map(|(_, permission)| self.first_rule(permission, entry));
        let mut kept = self.decided.write().unwrap_or_else(PoisonError::into_inner);
        // Names come from requests, so that there may be any number of them.
        if kept.len() >= GRANTED_ENTRIES_KEPT {
            kept.clear();
        }
        kept.insert(entry.into(), decided);
        decided[permission as usize]
    }

    fn first_rule(&self, permission: Permission, entry: &str) -> Option<u32> {
        let decides = |rule: &AccessRule| {
            rule.permissions.contains(&permission) && rule.is_about(entry) && self.is_for_caller(rule)
        };
        self.policy.rules().iter().position(decides).and_then(|number| u32::try_from(number).ok())
    }

    fn is_for_caller(&self, rule: &AccessRule) -> bool {
        match &rule.roles {
            Some(roles) => roles.iter().any(|role| self.roles.get(*role) == Some(&true)),
            None => true,
        }
    }
}
