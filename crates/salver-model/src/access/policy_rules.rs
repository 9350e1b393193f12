//! Every role and rule of a policy, in order, and which callers they tell apart.

use std::collections::BTreeSet;

use super::{AccessRule, Permission, Role};
use crate::rule::Rule;
use crate::spec::DatabaseSpec;
use crate::version::Version;

/// Every role and rule, in order.
#[derive(Clone, Debug, Default)]
pub struct PolicyRules {
    roles: Vec<Role>,
    rules: Vec<AccessRule>,
    is_open: bool,
    /// Whom rules of databases except: callers that differ in this see other tables and columns.
    exceptions: Vec<Rule>,
    version: Version,
    /// The attributes of callers that any role or rule names: two callers that agree in these are the same.
    attributes: Vec<String>,
    asks_address: bool,
}

impl PolicyRules {
    pub(super) fn new(roles: Vec<Role>, rules: Vec<AccessRule>) -> Self {
        let conditions = roles.iter().filter_map(|role| role.when.as_ref());
        let conditions = conditions.chain(rules.iter().filter_map(|rule| rule.rows.as_ref()));
        let named: Vec<String> = conditions.flat_map(Rule::attributes).map(str::to_owned).collect();
        let asks_address = roles.iter().any(|role| !role.addresses.is_empty());
        let version = Version::of(&format!("{roles:?} {rules:?}"));
        Self { roles, rules, version, asks_address, ..Self::default() }.telling_apart(named)
    }

    pub(super) fn open() -> Self {
        let permissions = Permission::ALL.map(|(_, permission)| permission).to_vec();
        let everything = AccessRule { entries: vec!["*".to_owned()], permissions, ..AccessRule::default() };
        Self { is_open: true, ..Self::new(Vec::new(), vec![everything]) }
    }

    pub(super) fn with_databases<'s>(self, databases: impl Iterator<Item = &'s DatabaseSpec> + Clone) -> Self {
        let rules = databases.clone().flat_map(|spec| &spec.rules);
        let exceptions: Vec<Rule> = rules.clone().filter_map(|rule| rule.except.clone()).collect();
        let conditions = rules.flat_map(|rule| [&rule.rows, &rule.except]).flatten().flat_map(Rule::attributes);
        let tenancies = databases.flat_map(|spec| &spec.tenancy).filter_map(|tenancy| tenancy.attribute());
        let named = conditions.chain(tenancies).map(str::to_owned).collect();
        Self { exceptions, ..self }.telling_apart(named)
    }

    /// Adds attributes of callers that matter.
    fn telling_apart(mut self, named: Vec<String>) -> Self {
        let mut all: BTreeSet<String> = self.attributes.drain(..).chain(named).collect();
        self.asks_address |= all.remove("address");
        self.attributes = all.into_iter().collect();
        self
    }

    /// Returns whether the same callers may do the same by these and by the `other` rules.
    pub(super) fn decide_alike(&self, other: &Self) -> bool {
        self.roles == other.roles && self.rules == other.rules && self.exceptions == other.exceptions
    }

    /// Returns whether everything is permitted, as no rule was declared.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the attributes of callers that any role or rule names, but for the address.
    #[must_use]
    pub fn attributes(&self) -> &[String] {
        &self.attributes
    }

    /// Returns a number that other roles or rules have another of, for tags of responses.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the roles.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns the rules, in the order in which they are asked.
    #[must_use]
    pub fn rules(&self) -> &[AccessRule] {
        &self.rules
    }

    /// Returns whom rules of databases except.
    pub(super) fn exceptions(&self) -> &[Rule] {
        &self.exceptions
    }

    /// Returns whether callers at different addresses are told apart.
    pub(super) fn asks_address(&self) -> bool {
        self.asks_address
    }
}
