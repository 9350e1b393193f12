//! Statements that run on a cluster of Ballista instead of here, and the two kinds of processes that make one: a
//! scheduler, and executors.
//!
//! A statement is planned here, with all that gives it its meaning, and the finished plan of operators goes to the
//! scheduler, which cuts it into stages. So a cluster answers as this process would; what it can't answer so stays here
//! (`reach` says it of tables, `fragment` of plans, and `function_wire` of the engine of functions).

mod address;
mod codec;
mod executor;
mod fragment;
mod job;
mod lost_executors;
mod reach;
mod remote;
mod running_jobs;
mod scheduler;
mod stages;
mod task_fault;
mod unchanged_files;

pub use executor::{ExecutorOptions, run_executor};
pub(crate) use remote::Cluster;
pub use scheduler::{SchedulerOptions, run_scheduler};
