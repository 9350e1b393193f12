//! What readers must support to read a table.

use super::action::Protocol;
use super::fault;
use salver_model::Result;

/// Features of tables that can be read.
const FEATURES: [&str; 7] = [
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
];

/// The version of the protocol in which a table lists its features.
const WITH_FEATURES: i32 = 3;

/// Refuses a table that needs what can't be read.
pub(super) fn check(root: &str, protocol: &Protocol) -> Result<()> {
    if protocol.min_reader_version > WITH_FEATURES {
        let what = format!("version {} of the protocol", protocol.min_reader_version);
        return Err(fault::unsupported(root, &what, format!("versions 1 to {WITH_FEATURES} can be read")));
    }
    if protocol.min_reader_version < 1 {
        let why = format!("its protocol is of version {}", protocol.min_reader_version);
        return Err(fault::damaged(format!("{root}/_delta_log"), why));
    }
    if protocol.min_reader_version == WITH_FEATURES && protocol.reader_features.is_none() {
        let why = format!("its protocol of version {WITH_FEATURES} has no `readerFeatures`");
        return Err(fault::damaged(format!("{root}/_delta_log"), why));
    }
    let features = protocol.reader_features.as_deref().unwrap_or_default();
    let Some(feature) = features.iter().find(|feature| !FEATURES.contains(&feature.as_str())) else { return Ok(()) };
    let hint = format!("remove it with `ALTER TABLE ... DROP FEATURE {feature}`, or write a copy without it");
    Err(fault::unsupported(root, &format!("the feature `{feature}`"), hint))
}
