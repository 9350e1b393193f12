//! What a cluster of Ballista may take, and how long its processes wait for each other.

/// Most parts that the work of a statement may be cut into; more are a mistake in the configuration.
pub const CLUSTER_PARTITIONS_MAX: u64 = 100_000;
/// Largest message between the processes of a cluster, in bytes; a job that needs a larger one fails.
pub const CLUSTER_MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Largest plan of a statement for the cluster, in bytes; one with a larger plan runs on the server.
pub const CLUSTER_PLAN_BYTES_MAX: usize = CLUSTER_MESSAGE_BYTES_MAX / 2;
/// Longest wait for a connection to the scheduler, in milliseconds; then a query is answered with 503.
pub const CLUSTER_CONNECT_MS_MAX: u64 = 5_000;
/// Time without a sign of life after which an executor counts as lost, in seconds: the jobs that it worked for begin
/// anew. So do those that find no executor at all for as long.
pub const CLUSTER_EXECUTOR_LOST_S_MAX: u64 = 15;
/// Most times that a statement begins because an executor was lost; then it fails with 503.
pub const CLUSTER_JOB_ATTEMPTS_MAX: usize = 3;
