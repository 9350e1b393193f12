//! The contract of the `KeySetSource` port, clause by clause.

use salver_model::Code;
use salver_model::limits::JWK_SET_BYTES_MAX;
use salver_model::ports::KeySetSource;

/// Runs the suite. `publish` puts a set where `source` fetches it, or takes it away.
///
/// # Panics
/// When the contract is broken.
pub async fn run(source: &dyn KeySetSource, publish: &(dyn Fn(Option<&[u8]>) + Sync)) {
    publish(None);
    let absent = source.fetch().await.expect_err("there is none");
    assert_eq!(absent.code, Code::Source);
    // Each time as it is now, and unchecked.
    for text in [&b"{\"keys\":[]}"[..], b"{\"keys\":[1]}", b"not a set \xff"] {
        publish(Some(text));
        assert_eq!(source.fetch().await.expect("it is there"), text);
    }
    let largest = vec![b' '; usize::try_from(JWK_SET_BYTES_MAX).expect("it fits")];
    publish(Some(&largest));
    assert_eq!(source.fetch().await.expect("it is there").len(), largest.len());
    publish(Some(&[&largest[..], b" "].concat()));
    assert_eq!(source.fetch().await.expect_err("it is too large").code, Code::Source);
    publish(None);
    assert_eq!(source.fetch().await.expect_err("it is gone").code, Code::Source);
}
