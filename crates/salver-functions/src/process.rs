//! The processes that run user code, as represented in the server.

mod environment;
mod signal;
mod socket;
mod worker;
mod zygote;

pub(crate) use environment::{close_descriptors, keep};
pub(crate) use signal::{kill, kill_member};
pub(crate) use socket::WorkerSocket;
pub(crate) use worker::{CallEnd, Mark, Worker};
pub(crate) use zygote::{Order, Zygote};
