//! Files of functions as the server has them: real processes of Python and R, used well and badly.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

#[path = "pool/abuse.rs"]
mod abuse;
#[path = "pool/answers.rs"]
mod answers;
#[path = "pool/columns.rs"]
mod columns;
#[path = "pool/gather.rs"]
mod gather;
#[path = "pool/life.rs"]
mod life;
#[path = "pool/queue.rs"]
mod queue;
#[path = "pool/reload.rs"]
mod reload;
#[path = "pool/served.rs"]
mod served;
