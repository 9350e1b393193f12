//! The settings of the cluster that large statements go to.

use super::{at_start, new_row};
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    at_start(new_row(Section::Cluster, "engine", SettingKind::Choice(&["ballista"]), ["", r#""ballista""#],
        "What the cluster runs. A statement goes there if it reads only Parquet files, in place and under no rule that \
            keeps rows or columns back, and enough of them; `explain` says whether, and why. Its files must have the \
            same paths on all machines.",
        &[])),
    at_start(new_row(Section::Cluster, "scheduler", SettingKind::Location, ["", r#""127.0.0.1:50050""#],
        "Host and port of the scheduler, which `salver scheduler` runs. It knows no callers: keep it in a private \
            network.",
        &[])),
    at_start(new_row(Section::Cluster, "bytes_min", SettingKind::Bytes, [r#""1GiB""#, r#""10GiB""#],
        "Size of the files of all tables of a statement, as a whole, from which on it goes to the cluster; a smaller \
            one takes less time on one machine.",
        &[])),
    at_start(new_row(Section::Cluster, "partitions", SettingKind::Count(1), ["16", "800"],
        "Parts that the work of a statement is cut into, each for one core at a time: as many as there are cores in \
            the cluster, or twice as many.",
        &[])),
];
