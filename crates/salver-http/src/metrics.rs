//! What is counted of requests: by route and status, with their time from the head of the request to that of the
//! response. What a body takes afterwards is the client's pace.

mod exposition;
mod wire_counts;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use salver_model::access::LimitedQuantity;
use salver_service::reception::Outcome;

pub(crate) use self::exposition::{Exposition, MEDIA_TYPE};
use self::wire_counts::WireCounts;
use crate::routes::{self, RouteLabel};

/// The statuses that are counted each for itself; others are counted together. 499 is no response: the client left
/// before there was one.
const STATUSES: [u16; 23] =
    [200, 201, 202, 204, 206, 207, 301, 304, 400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 429, 499, 500, 503];

/// Status under which requests are counted and logged whose client left before there was a response: nginx's for them.
pub(crate) const CLIENT_LEFT: u16 = 499;

/// The methods that are counted each for itself; others are counted together.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];

/// Upper bounds of the histogram's buckets, in nanoseconds, as they are written in seconds.
const BUCKETS: [(u64, &str); 14] = [
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_500_000, "0.0025"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (25_000_000, "0.025"),
    (100_000_000, "0.1"),
    (250_000_000, "0.25"),
    (1_000_000_000, "1"),
    (2_500_000_000, "2.5"),
    (10_000_000_000, "10"),
    (60_000_000_000, "60"),
];

/// What is counted of requests.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// By route and method, in the order of both.
    routes: Vec<RouteCounts>,
    /// Statements of wires other than HTTP.
    wires: WireCounts,
    /// Responses that came out of the cache.
    cached: AtomicU64,
    /// Responses whose client left before their end.
    aborted: Arc<AtomicU64>,
}

/// The requests of one route and method.
#[derive(Debug, Default)]
struct RouteCounts {
    by_status: [AtomicU64; STATUSES.len() + 1],
    /// Requests by the first bucket that holds their time.
    by_time: [AtomicU64; BUCKETS.len() + 1],
    ns: AtomicU64,
}

/// A request that is being answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    began: Instant,
    route: RouteLabel,
    method: usize,
}

impl Timer {
    /// Begins with a request of this method, whose route is not known yet.
    pub(crate) fn begin(method: &Method) -> Self {
        Self { began: Instant::now(), route: RouteLabel::NONE, method: index_of(method) }
    }

    /// Returns the time since it began.
    pub(crate) fn elapsed(self) -> Duration {
        self.began.elapsed()
    }

    /// Returns whether the request asks for a head alone.
    pub(crate) fn is_of_head(self) -> bool {
        METHODS[self.method] == "HEAD"
    }

    /// Returns the timer of a request of this route.
    pub(crate) fn of(self, route: RouteLabel) -> Self {
        Self { route, ..self }
    }
}

/// Returns the place of a method in `METHODS`.
fn index_of(method: &Method) -> usize {
    match *method {
        Method::GET => 0,
        Method::HEAD => 1,
        Method::POST => 2,
        Method::PUT => 3,
        Method::PATCH => 4,
        Method::DELETE => 5,
        Method::OPTIONS => 6,
        _ => METHODS.len() - 1,
    }
}

/// Returns the name of a method, or `other`.
pub(crate) fn method_name(method: &Method) -> &'static str {
    METHODS[index_of(method)]
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let routes = routes::labels().flat_map(|_| METHODS).map(|_| RouteCounts::default()).collect();
        Self { routes, wires: WireCounts::default(), cached: AtomicU64::new(0), aborted: Arc::default() }
    }

    /// Counts a request whose response is ready.
    pub(crate) fn count(&self, timer: Timer, status: StatusCode) {
        self.count_as(timer, status.as_u16());
    }

    /// Counts a request whose client left before there was a response.
    pub(crate) fn count_left(&self, timer: Timer) {
        self.count_as(timer, CLIENT_LEFT);
    }

    /// Returns the counter of responses whose client left before their end.
    pub(crate) fn aborted(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.aborted)
    }

    fn count_as(&self, timer: Timer, status: u16) {
        let Some(counts) = self.routes.get(timer.route.index() * METHODS.len() + timer.method) else { return };
        let status = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
        let ns = u64::try_from(timer.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.iter().position(|(bound, _)| ns <= *bound).unwrap_or(BUCKETS.len());
        counts.by_status[status].fetch_add(1, Ordering::Relaxed);
        counts.by_time[bucket].fetch_add(1, Ordering::Relaxed);
        counts.ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Counts a statement of a wire other than HTTP.
    pub(crate) fn count_on_wire(&self, wire: &str, outcome: Outcome) {
        self.wires.count(wire, outcome);
    }

    /// Counts a response out of the cache.
    pub(crate) fn count_cached(&self) {
        self.cached.fetch_add(1, Ordering::Relaxed);
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, &RouteCounts)> {
        let labels = routes::labels().flat_map(|route| METHODS.map(|method| (route, method)));
        labels.zip(&self.routes).map(|((route, method), counts)| (route, method, counts))
    }

    /// Writes them to the page.
    pub(crate) fn write(&self, out: &mut Exposition) {
        out.family("salver_http_requests_total", "counter", "Requests, by route, method and status.");
        for (route, method, counts) in self.all() {
            for (index, count) in counts.by_status.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let status = STATUSES.get(index).map_or_else(|| "other".to_owned(), u16::to_string);
                    let labels = [("route", route), ("method", method), ("status", &status)];
                    out.sample("", &labels, count);
                }
            }
        }
        let help = "Seconds from the head of a request to that of its response.";
        out.family("salver_http_request_duration_seconds", "histogram", help);
        for (route, method, counts) in self.all() {
            let by_time: Vec<u64> = counts.by_time.iter().map(|count| count.load(Ordering::Relaxed)).collect();
            let total: u64 = by_time.iter().sum();
            if total == 0 {
                continue;
            }
            let own = [("route", route), ("method", method)];
            let mut within = 0;
            let bounds = BUCKETS.iter().map(|(_, text)| *text).chain(["+Inf"]);
            for (count, bound) in by_time.iter().zip(bounds) {
                within += count;
                out.sample("_bucket", &[own[0], own[1], ("le", bound)], within);
            }
            out.sample("_sum", &own, counts.ns.load(Ordering::Relaxed) as f64 / 1e9);
            out.sample("_count", &own, total);
        }
        let help = "Streamed responses whose client left before their end.";
        out.family("salver_http_responses_aborted_total", "counter", help);
        out.sample("", &[], self.aborted.load(Ordering::Relaxed));
        self.wires.write(out);
        out.family("salver_cache_hits_total", "counter", "Responses that came out of the cache.");
        out.sample("", &[], self.cached.load(Ordering::Relaxed));
        out.family("salver_limit_refusals_total", "counter", "Requests that a limit of callers ended, by the limit.");
        for quantity in LimitedQuantity::ALL {
            out.sample("", &[("limit", quantity.key())], quantity.refusals());
        }
    }
}
