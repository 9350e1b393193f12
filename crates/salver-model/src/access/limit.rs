//! Limits of callers: how much of each quantity a caller may ask for, by its roles.
//!
//! For each quantity the first limit decides that is about the caller and names the quantity, as with access rules. The
//! general limits stay upper bounds.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Role;
use crate::error::{Code, Error};
use crate::principal::Principal;

/// What a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedQuantity {
    /// Requests in a second.
    RequestsPerSecond,
    /// Requests that are being answered.
    ConcurrentRequests,
    /// Rows of a response.
    Rows,
    /// Time of a query, in milliseconds.
    QueryMs,
    /// Bytes of the body of a request.
    BodyBytes,
    /// Bytes of the body of a response.
    ResponseBytes,
}

/// Refusals since the process began, by quantity.
static REFUSALS: [AtomicU64; LimitedQuantity::ALL.len()] = [const { AtomicU64::new(0) }; LimitedQuantity::ALL.len()];

impl LimitedQuantity {
    /// Every quantity.
    pub const ALL: [Self; 6] = [
        Self::RequestsPerSecond,
        Self::ConcurrentRequests,
        Self::Rows,
        Self::QueryMs,
        Self::BodyBytes,
        Self::ResponseBytes,
    ];

    /// Returns the setting of the quantity.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::RequestsPerSecond => "requests_per_second",
            Self::ConcurrentRequests => "concurrent_requests_max",
            Self::Rows => "rows_max",
            Self::QueryMs => "query_ms_max",
            Self::BodyBytes => "body_bytes_max",
            Self::ResponseBytes => "response_bytes_max",
        }
    }

    /// Returns how many requests of this process exceeded a limit of callers on the quantity.
    #[must_use]
    pub fn refusals(self) -> u64 {
        REFUSALS[self as usize].load(Ordering::Relaxed)
    }

    fn count_refusal(self) {
        REFUSALS[self as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a refused request, and returns its error.
    #[must_use]
    pub fn refuse(self, message: impl Into<String>) -> Error {
        self.count_refusal();
        Error::new(Code::TooManyRequests, message)
    }
}

/// One limit of callers. For each quantity `None` leaves the decision to a later limit, and 0 decides that there is no
/// bound but the general one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitRule {
    /// Roles, by their index in the policy; `None` for every caller.
    pub roles: Option<Vec<usize>>,
    /// Requests that a caller may send in a second.
    pub requests_per_second: Option<u64>,
    /// Requests that it may send at once after a rest; `None` for those of a second.
    pub burst: Option<u64>,
    /// Requests of a caller that may be answered at a time.
    pub concurrent_requests_max: Option<u64>,
    /// Rows of a response.
    pub rows_max: Option<u64>,
    /// Time of a query, in milliseconds.
    pub query_ms_max: Option<u64>,
    /// Bytes of the body of a request, as they are received.
    pub body_bytes_max: Option<u64>,
    /// Bytes of the body of a response, as they are sent.
    pub response_bytes_max: Option<u64>,
}

impl LimitRule {
    /// Returns the limit on a quantity; `None` if it decides nothing about it.
    #[must_use]
    pub fn most(&self, quantity: LimitedQuantity) -> Option<u64> {
        match quantity {
            LimitedQuantity::RequestsPerSecond => self.requests_per_second,
            LimitedQuantity::ConcurrentRequests => self.concurrent_requests_max,
            LimitedQuantity::Rows => self.rows_max,
            LimitedQuantity::QueryMs => self.query_ms_max,
            LimitedQuantity::BodyBytes => self.body_bytes_max,
            LimitedQuantity::ResponseBytes => self.response_bytes_max,
        }
    }
}

/// Every limit of callers, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitPolicy {
    roles: Vec<Role>,
    rules: Vec<LimitRule>,
}

impl LimitPolicy {
    /// Creates a policy.
    #[must_use]
    pub fn new(roles: Vec<Role>, rules: Vec<LimitRule>) -> Self {
        Self { roles, rules }
    }

    /// Returns the roles.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns the limits, in the order in which they are asked.
    #[must_use]
    pub fn rules(&self) -> &[LimitRule] {
        &self.rules
    }

    /// Returns the names of the caller's roles.
    pub fn roles_of<'p>(&'p self, caller: &'p Principal) -> impl Iterator<Item = &'p str> {
        self.roles.iter().filter(|role| role.has(caller)).map(|role| role.name.as_str())
    }

    /// Returns the limits of the caller. It allocates nothing and takes no lock.
    #[must_use]
    pub fn limits_of(&self, caller: &Principal) -> CallerLimits {
        let mut limits = CallerLimits::default();
        let mut decided = [false; LimitedQuantity::ALL.len()];
        for (number, rule) in self.rules.iter().enumerate() {
            let decides = |quantity: &LimitedQuantity| !decided[*quantity as usize] && rule.most(*quantity).is_some();
            if !LimitedQuantity::ALL.iter().any(decides) || !self.is_about(rule, caller) {
                continue;
            }
            let number = narrow(number as u64);
            for quantity in LimitedQuantity::ALL {
                let Some(most) = rule.most(quantity).filter(|_| !decided[quantity as usize]) else { continue };
                decided[quantity as usize] = true;
                limits.set(quantity, (number, rule), most);
            }
        }
        limits
    }

    /// Returns the limit that decides about a quantity for the caller, with its number, from 0.
    #[must_use]
    pub fn decide(&self, caller: &Principal, quantity: LimitedQuantity) -> Option<(usize, &LimitRule)> {
        let decides = |rule: &LimitRule| rule.most(quantity).is_some() && self.is_about(rule, caller);
        self.rules.iter().enumerate().find(|(_, rule)| decides(rule))
    }

    fn is_about(&self, rule: &LimitRule, caller: &Principal) -> bool {
        let has = |index: &usize| self.roles.get(*index).is_some_and(|role| role.has(caller));
        rule.roles.as_ref().is_none_or(|roles| roles.iter().any(has))
    }
}

fn narrow(most: u64) -> u32 {
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// How often a caller may send requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRate {
    /// Number of the limit, from 0: limits are kept apart.
    pub rule: u32,
    /// Requests in a second; at least 1.
    pub per_second: u32,
    /// Requests at once after a rest; at least 1.
    pub burst: u32,
}

/// How many requests of a caller may be answered at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcurrentRequests {
    /// Number of the limit, from 0.
    pub rule: u32,
    /// Requests at a time; at least 1.
    pub most: u32,
}

/// The limits of one caller; by default there are none but the general ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerLimits {
    /// How often it may send requests.
    pub rate: Option<RequestRate>,
    /// How many of its requests may be answered at a time.
    pub concurrency: Option<ConcurrentRequests>,
    /// Of the other quantities; 0 is no limit.
    rows_max: u64,
    query_ms_max: u64,
    body_bytes_max: u64,
    response_bytes_max: u64,
}

impl CallerLimits {
    fn set(&mut self, quantity: LimitedQuantity, (number, rule): (u32, &LimitRule), most: u64) {
        match quantity {
            LimitedQuantity::RequestsPerSecond => {
                let burst = narrow(rule.burst.unwrap_or(most)).max(1);
                self.rate = (most > 0).then(|| RequestRate { rule: number, per_second: narrow(most), burst });
            }
            LimitedQuantity::ConcurrentRequests => {
                self.concurrency = (most > 0).then(|| ConcurrentRequests { rule: number, most: narrow(most) });
            }
            LimitedQuantity::Rows => self.rows_max = most,
            LimitedQuantity::QueryMs => self.query_ms_max = most,
            LimitedQuantity::BodyBytes => self.body_bytes_max = most,
            LimitedQuantity::ResponseBytes => self.response_bytes_max = most,
        }
    }

    /// Returns whether the caller's requests are counted.
    #[must_use]
    pub fn counts_requests(&self) -> bool {
        self.rate.is_some() || self.concurrency.is_some()
    }

    /// Returns the bound on rows, where `general` is that of all callers.
    #[must_use]
    pub fn rows(&self, general: u64) -> Bound {
        Bound::stricter(LimitedQuantity::Rows, self.rows_max, general)
    }

    /// Returns the bound on the time of a query, where `general` is that of all callers.
    #[must_use]
    pub fn query_ms(&self, general: u64) -> Bound {
        Bound::stricter(LimitedQuantity::QueryMs, self.query_ms_max, general)
    }

    /// Returns the bound on the bytes of a body that is received.
    #[must_use]
    pub fn body_bytes(&self) -> Bound {
        Bound::stricter(LimitedQuantity::BodyBytes, self.body_bytes_max, 0)
    }

    /// Returns the bound on the bytes of a body that is sent.
    #[must_use]
    pub fn response_bytes(&self) -> Bound {
        Bound::stricter(LimitedQuantity::ResponseBytes, self.response_bytes_max, 0)
    }
}

/// The bound on a quantity that is in force for a request, with the setting that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    most: u64,
    quantity: LimitedQuantity,
    is_callers: bool,
}

impl Bound {
    fn stricter(quantity: LimitedQuantity, own: u64, general: u64) -> Self {
        let is_callers = own != 0 && (general == 0 || own < general);
        Self { most: if is_callers { own } else { general }, quantity, is_callers }
    }

    /// Returns the largest value that is allowed; `None` for any.
    #[must_use]
    pub fn most(self) -> Option<u64> {
        (self.most != 0).then_some(self.most)
    }

    /// Returns the largest value that is allowed; 0 for any.
    #[must_use]
    pub fn value(self) -> u64 {
        self.most
    }

    /// Returns whether a value is larger than allowed.
    #[must_use]
    pub fn is_exceeded_by(self, value: u64) -> bool {
        self.most != 0 && value > self.most
    }

    /// Returns the name of the setting, for messages.
    #[must_use]
    pub fn setting(self) -> String {
        match self.is_callers {
            true => format!("`{}` of [[limit]]", self.quantity.key()),
            false => format!("`limits.{}`", self.quantity.key()),
        }
    }

    /// Counts a refusal, if the bound is that of a limit of callers.
    pub fn count_refusal(self) {
        if self.is_callers {
            self.quantity.count_refusal();
        }
    }

    /// Counts an answer that has more bytes than allowed, and returns its error.
    #[must_use]
    pub fn refuse_answer(self) -> Error {
        self.refuse(Code::AnswerTooLarge, format!("the answer has more bytes than {} allows", self.setting()))
            .with_hint("ask for less at once, with a `limit` or fewer columns")
    }

    /// Counts a refused request, and returns its error.
    #[must_use]
    pub fn refuse(self, code: Code, message: impl Into<String>) -> Error {
        self.count_refusal();
        Error::new(code, message)
    }
}

#[cfg(test)]
mod tests {
    use super::{ConcurrentRequests, LimitPolicy, LimitRule, LimitedQuantity, RequestRate};
    use crate::access::Role;
    use crate::principal::Principal;

    fn role(name: &str, caller: &str) -> Role {
        Role { name: name.to_owned(), callers: vec![caller.to_owned()], ..Role::default() }
    }

    fn caller(identity: &str) -> Principal {
        Principal { attributes: vec![(Principal::IDENTITY.to_owned(), identity.to_owned())], ..Principal::default() }
    }

    #[test]
    fn the_first_limit_that_names_a_quantity_decides() {
        let policy = LimitPolicy::new(
            vec![role("a", "user:a"), role("b", "user:b")],
            vec![
                LimitRule { roles: Some(vec![0, 1]), rows_max: Some(0), ..LimitRule::default() },
                LimitRule {
                    roles: Some(vec![0]),
                    requests_per_second: Some(3),
                    concurrent_requests_max: Some(2),
                    ..LimitRule::default()
                },
                LimitRule {
                    requests_per_second: Some(1),
                    burst: Some(5),
                    rows_max: Some(10),
                    query_ms_max: Some(u64::MAX),
                    ..LimitRule::default()
                },
            ],
        );
        let (a, b, other) = (caller("user:a"), caller("user:b"), Principal::default());
        let limits = policy.limits_of(&a);
        assert_eq!(limits.rate, Some(RequestRate { rule: 1, per_second: 3, burst: 3 }));
        assert_eq!(limits.concurrency, Some(ConcurrentRequests { rule: 1, most: 2 }));
        assert_eq!((limits.rows(0).most(), limits.rows(7).most()), (None, Some(7)));
        let limits = policy.limits_of(&b);
        assert_eq!(limits.rate, Some(RequestRate { rule: 2, per_second: 1, burst: 5 }));
        assert_eq!((limits.concurrency, limits.rows(0).most()), (None, None));
        let limits = policy.limits_of(&other);
        assert_eq!(
            (limits.rows(0).most(), limits.rows(11).most(), limits.rows(9).most()),
            (Some(10), Some(10), Some(9))
        );
        assert_eq!(limits.rows(11).setting(), "`rows_max` of [[limit]]");
        assert_eq!(limits.rows(10).setting(), "`limits.rows_max`");
        assert_eq!(limits.query_ms(60_000).value(), 60_000, "the general limit is an upper bound");
        assert!(limits.rows(0).is_exceeded_by(11) && !limits.rows(0).is_exceeded_by(10));
        assert!(!limits.body_bytes().is_exceeded_by(u64::MAX));
        let number = |caller: &Principal, quantity| policy.decide(caller, quantity).map(|(number, _)| number);
        assert_eq!(number(&a, LimitedQuantity::Rows), Some(0));
        assert_eq!(number(&other, LimitedQuantity::Rows), Some(2));
        assert_eq!(number(&other, LimitedQuantity::BodyBytes), None);
        assert_eq!(policy.roles_of(&b).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn quantities_stand_in_their_order() {
        for (index, quantity) in LimitedQuantity::ALL.into_iter().enumerate() {
            assert_eq!(quantity as usize, index, "{quantity:?}");
        }
    }
}
