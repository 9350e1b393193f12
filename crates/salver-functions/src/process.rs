//! The processes that run user code, as represented in the server.

mod confinement;
mod environment;
mod signal;
mod socket;
mod worker;
mod zygote;

pub(crate) use confinement::{Confinement, confine};
pub(crate) use environment::keep;
pub(crate) use signal::{is_member, kill, kill_member};
pub(crate) use socket::WorkerSocket;
pub(crate) use worker::{CallEnd, Mark, Worker};
pub(crate) use zygote::{Order, Zygote};
