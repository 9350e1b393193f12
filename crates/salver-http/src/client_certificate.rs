//! The name in the certificate that a client showed. That it was signed by a trusted authority is checked before, in
//! the handshake.
//!
//! It is the common name of the subject, as for users of PostgreSQL and Kubernetes, because that is what authorities of
//! one's own are commonly told; and the first alternative name (DNS name, URI or email address) where the subject has
//! none, as in service meshes. A certificate with several common names says nothing certain, and has no name.

use salver_model::limits::CERTIFICATE_NAME_BYTES_MAX;
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Common name (RFC 5280, appendix A.1).
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// Returns the name in a certificate; `None` if it has none that is unambiguous and fit for logs and settings.
pub(crate) fn name(certificate: &[u8]) -> Option<String> {
    let read = Certificate::from_der(certificate);
    let name = match &read {
        Ok(certificate) => named(certificate),
        Err(error) => {
            tracing::debug!("the certificate of a client can't be read: {error}");
            None
        }
    };
    let is_fit = |name: &String| {
        !name.is_empty() && name.len() <= CERTIFICATE_NAME_BYTES_MAX && !name.contains(char::is_control)
    };
    name.filter(is_fit)
}

fn named(certificate: &Certificate) -> Option<String> {
    let parts = certificate.tbs_certificate.subject.0.iter().flat_map(|part| part.0.iter());
    let mut common = parts.filter(|part| part.oid == COMMON_NAME);
    match (common.next(), common.next()) {
        (Some(only), None) => match only.value.tag() {
            Tag::Utf8String | Tag::PrintableString | Tag::Ia5String => {
                std::str::from_utf8(only.value.value()).ok().map(str::to_owned)
            }
            _ => None,
        },
        (Some(_), Some(_)) => None,
        (None, _) => {
            let (_, names) = certificate.tbs_certificate.get::<SubjectAltName>().ok()??;
            names.0.iter().find_map(alternative)
        }
    }
}

fn alternative(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(text) | GeneralName::UniformResourceIdentifier(text) | GeneralName::Rfc822Name(text) => {
            Some(text.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::name;
    /// Of the common name `ann`, with another alternative name.
    const ANN: &str = "\
        MIIBMDCB46ADAgECAhQIoIkCx/W85WNMEalgaDwoWFwF4DAFBgMrZXAwHTENMAsGA1UECgwEU2hvcDEMMAoGA1UEAwwDYW5u\
        MCAXDTI2MTEyNzE1MjA1NVoYDzIxMjYxMTAzMTUyMDU1WjAdMQ0wCwYDVQQKDARTaG9wMQwwCgYDVQQDDANhbm4wKjAFBgMr\
        ZXADIQDThHOBSFzh4/ejurl9xKQThmHJoJxnop57r1ikTS5Cf6MzMDEwEAYDVR0RBAkwB4IFb3RoZXIwHQYDVR0OBBYEFMRi\
        A6IvNQaWbtwLeVdSZ2wBbYUiMAUGAytlcANBADtHSIsypr08xyLiS6AMFtf6ulSGbEkGq07KLRDzOHv7/LNUf2cYKu7qnETo\
        0fdEobFipTGadmItl5VF5aVV1gg=";
    /// Of the common name `bär nö`.
    const UNICODE: &str = "\
        MIHiMIGVAhRAH708vbXl/fP8qLxhDbrVicEtyTAFBgMrZXAwEzERMA8GA1UEAwwIYsOkciBuw7YwIBcNMjYxMTI3MTUyMDU1\
        WhgPMjEyNjExMDMxNTIwNTVaMBMxETAPBgNVBAMMCGLDpHIgbsO2MCowBQYDK2VwAyEACerrOGnuKBsLgdQM23s8lraK/Ld4\
        5AuyNhxJDMchtrIwBQYDK2VwA0EATspoqiwhzC0TBmZI+KM30y6DZsuq6wZ9GDGx4BrXBS90izGuoZ5SHUK35CAuZ/rvbeqH\
        6rhgjVxFtlRkBwTSAA==";
    /// Without a common name; with an address, a URI and a DNS name.
    const ALTERNATIVE: &str = "\
        MIIBKTCB3KADAgECAhQeMBvAQo5uJiM6iko0IYqOIuzrTzAFBgMrZXAwDzENMAsGA1UECgwEU2hvcDAgFw0yNjExMjcxNTIw\
        NTVaGA8yMTI2MTEwMzE1MjA1NVowDzENMAsGA1UECgwEU2hvcDAqMAUGAytlcAMhAKD+lY91Adc7ZMKJ7QpK5Akk+H0peCe2\
        q1MhbyM6gwe4o0gwRjAlBgNVHREEHjAchwQKAAABhhFzcGlmZmU6Ly9zaG9wL3dlYoIBYjAdBgNVHQ4EFgQUu7+RER3P1+rn\
        S07a33p6CL5vIhYwBQYDK2VwA0EAh6Nz+zzFHKCqY6kItZJfM4RWPjE3xtbetAH3uJn70mwzmXXTvEkfwKox4sxesncicFi/\
        Mxh6wfTVaYyE6aS1Dw==";
    /// With two common names.
    const TWO: &str = "\
        MIHsMIGfAhRZ+KppHFRZt/7RWy1MUBg/tEHGrTAFBgMrZXAwGDEKMAgGA1UEAwwBYTEKMAgGA1UEAwwBYjAgFw0yNjExMjcx\
        NTIwNTVaGA8yMTI2MTEwMzE1MjA1NVowGDEKMAgGA1UEAwwBYTEKMAgGA1UEAwwBYjAqMAUGAytlcAMhABm2zB+7MNM8fDZ7\
        6GzrBdNJJCuPgBeW7N640GLsNAHtMAUGAytlcANBAByCZJfGg9FUErYbV/RgPEm4NePac6c/ld0Y/ZhS20E5h7vuvPh2wVcp\
        JIHFt4axagbJbqBTgqPexMUIPFIXKwo=";
    /// With a line break in the common name.
    const CONTROL: &str = "\
        MIHYMIGLAhRDIUETjUtdI5pM2ugzk4UKl6pcPDAFBgMrZXAwDjEMMAoGA1UEAwwDYQpiMCAXDTI2MTEyNzE1MjA1NVoYDzIx\
        MjYxMTAzMTUyMDU1WjAOMQwwCgYDVQQDDANhCmIwKjAFBgMrZXADIQA9ls+YGEgBoF13/RBD1GsoNwkrtd++fr5Ml7vZ2t+V\
        BjAFBgMrZXADQQCFz4swaEK/uRtrSNXLTPvwsS0mGK5w0M4J/5cL3schvExMoixxHM8dAABD2rLNWGw8YT/dtVbgXuOTKsYu\
        dqEG";
    /// Without any name but that of an organization.
    const NAMELESS: &str = "\
        MIHaMIGNAhRBcLtvAUajK0rxR9RSNeG37yNBUTAFBgMrZXAwDzENMAsGA1UECgwEU2hvcDAgFw0yNjExMjcxNTIwNTVaGA8y\
        MTI2MTEwMzE1MjA1NVowDzENMAsGA1UECgwEU2hvcDAqMAUGAytlcAMhAGuHJhXiCpAZ1d9yUkD2N+umaAU1Eac/mLOItqVD\
        RfnGMAUGAytlcANBAOeN9AG8IK2sC8Z8q9xlLK0maeX6NbXCIw0BRhoFodxJbvDj7HGeaY3C6mjjMi4hBZzjrMxQz6XjhrPH\
        JAnTkwI=";
    /// With two common names in one part of the subject.
    const JOINED: &str = "\
        MIHoMIGbAhR5iCEV0L928724CRY2zL6mR96RmDAFBgMrZXAwFjEUMAgGA1UEAwwBYTAIBgNVBAMMAWIwIBcNMjYxMTI3MTUy\
        MDU1WhgPMjEyNjExMDMxNTIwNTVaMBYxFDAIBgNVBAMMAWEwCAYDVQQDDAFiMCowBQYDK2VwAyEAw73rmq2uWx5qYEIlovHE\
        2ZCY4vlZ3tB14C7opqpaRuwwBQYDK2VwA0EASpHArT+EaJvIFM6fQGjcaQlcdxbExSNvuzT77bAMvAv+lcswS2Tly8Upfzwp\
        fK626z1Wd69d1c2bkBGqtpsLBQ==";

    fn named(certificate: &str) -> Option<String> {
        name(&STANDARD.decode(certificate).unwrap())
    }

    #[test]
    fn names() {
        assert_eq!(named(ANN).as_deref(), Some("ann"));
        assert_eq!(named(UNICODE).as_deref(), Some("b\u{e4}r n\u{f6}"));
        assert_eq!(named(ALTERNATIVE).as_deref(), Some("spiffe://shop/web"));
        for nameless in [TWO, JOINED, CONTROL, NAMELESS, ""] {
            assert_eq!(named(nameless), None, "{nameless}");
        }
        let whole = STANDARD.decode(ANN).unwrap();
        for end in 0..whole.len() {
            assert_eq!(name(&whole[..end]), None, "{end} bytes");
        }
        assert_eq!(name(&[whole.as_slice(), b"x"].concat()), None);
    }
}
