//! Which requests are traced: `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`
//! (<https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>).

use salver_model::trace::{SpanContext, TraceId};

use super::variable;

/// Decides which requests are traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampler {
    /// Whether a client that names a trace decides.
    heeds_client: bool,
    /// Share of the other requests, of 2^63.
    share: u64,
}

/// Every request.
const ALL: u64 = 1 << 63;

impl Sampler {
    /// Returns what the environment wants: by default everything that a client does not exclude.
    pub(super) fn of_environment() -> Self {
        let name = variable("OTEL_TRACES_SAMPLER");
        let argument = variable("OTEL_TRACES_SAMPLER_ARG");
        Self::of(name.as_deref().unwrap_or("parentbased_always_on"), argument.as_deref()).unwrap_or_else(|| {
            tracing::warn!(
                "OTEL_TRACES_SAMPLER or OTEL_TRACES_SAMPLER_ARG is none that is known; \
                 `parentbased_always_on` is used, which traces every request"
            );
            Self { heeds_client: true, share: ALL }
        })
    }

    fn of(name: &str, argument: Option<&str>) -> Option<Self> {
        let (heeds_client, own) = name.strip_prefix("parentbased_").map_or((false, name), |own| (true, own));
        let share = match own {
            "always_on" => ALL,
            "always_off" => 0,
            "traceidratio" => {
                let ratio = argument.map_or(Some(1.0), |text| text.parse::<f64>().ok())?;
                if !(0.0..=1.0).contains(&ratio) {
                    return None;
                }
                (ratio * ALL as f64) as u64
            }
            _ => return None,
        };
        Some(Self { heeds_client, share })
    }

    /// Returns whether a request of this trace is traced, which may be a part of a client's.
    pub(super) fn samples(self, trace: &TraceId, parent: Option<&SpanContext>) -> bool {
        match parent.filter(|_| self.heeds_client) {
            Some(parent) => parent.is_sampled,
            None => {
                // Every program that samples by ratio decides alike about one trace.
                let [.., a, b, c, d, e, f, g, h] = *trace;
                u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 1 < self.share
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use salver_model::trace::SpanContext;

    use super::{ALL, Sampler};

    #[test]
    fn samplers_by_name() {
        let of = |name, argument| Sampler::of(name, argument).map(|sampler| (sampler.heeds_client, sampler.share));
        assert_eq!(of("always_on", None), Some((false, ALL)));
        assert_eq!(of("always_off", Some("x")), Some((false, 0)));
        assert_eq!(of("parentbased_always_off", None), Some((true, 0)));
        assert_eq!(of("traceidratio", Some("0.25")), Some((false, ALL / 4)));
        assert_eq!(of("parentbased_traceidratio", None), Some((true, ALL)));
        for (name, argument) in [("jaeger_remote", None), ("traceidratio", Some("2")), ("traceidratio", Some("NaN"))] {
            assert_eq!(of(name, argument), None, "{name}");
        }
    }

    #[test]
    fn a_trace_is_whole() {
        let half = Sampler::of("parentbased_traceidratio", Some("0.5")).unwrap();
        let (low, high) = ([0x7f; 16], [0xff; 16]);
        assert!(half.samples(&low, None) && !half.samples(&high, None));
        let mut parent = SpanContext::root();
        assert!(!half.samples(&low, Some(&parent)));
        parent.is_sampled = true;
        assert!(half.samples(&high, Some(&parent)));
        let own = Sampler::of("traceidratio", Some("0.5")).unwrap();
        assert!(!own.samples(&high, Some(&parent)));
        let (all, none) = (Sampler::of("always_on", None).unwrap(), Sampler::of("always_off", None).unwrap());
        assert!(all.samples(&high, None) && !none.samples(&[0; 16], None));
    }
}
