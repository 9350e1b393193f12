//! The processes that run user code, as represented in the server.

mod line;
mod signal;
mod surroundings;
mod worker;
mod zygote;

pub(crate) use line::Line;
pub(crate) use signal::{kill, kill_member};
pub(crate) use surroundings::{close_descriptors, keep};
pub(crate) use worker::{Ended, Mark, Worker};
pub(crate) use zygote::{Order, Zygote};
