//! Statements that run on a cluster of Ballista instead of here, and the two kinds of processes that make one: a
//! scheduler, and executors.
//!
//! A statement is planned here, with all that gives it its meaning, and the finished plan of operators goes to the
//! scheduler, which cuts it into stages. So a cluster answers as this process would; what it can't answer so stays here
//! (`reach` says it of tables, `fragment` of plans, and `function_wire` of the engine of functions).

#[cfg(feature = "ballista")]
mod address;
#[cfg(feature = "ballista")]
mod codec;
#[cfg(feature = "ballista")]
mod executor;
#[cfg(feature = "ballista")]
mod fragment;
#[cfg(feature = "ballista")]
mod job;
#[cfg(feature = "ballista")]
mod lost_executors;
#[cfg(feature = "ballista")]
mod reach;
#[cfg(feature = "ballista")]
mod remote;
#[cfg(feature = "ballista")]
mod running_jobs;
#[cfg(feature = "ballista")]
mod scheduler;
#[cfg(feature = "ballista")]
mod stages;
#[cfg(feature = "ballista")]
mod task_fault;
#[cfg(feature = "ballista")]
mod unchanged_files;
#[cfg(not(feature = "ballista"))]
mod without_ballista;

#[cfg(feature = "ballista")]
pub use executor::{ExecutorOptions, run_executor};
#[cfg(feature = "ballista")]
pub(crate) use remote::Cluster;
#[cfg(feature = "ballista")]
pub use scheduler::{SchedulerOptions, run_scheduler};
#[cfg(not(feature = "ballista"))]
pub(crate) use without_ballista::Cluster;
