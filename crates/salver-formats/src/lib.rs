//! Encodes rows as bytes: the formats, their encoders and their compression. It depends on no protocol and no backend.
//!
//! Suggested reading order: the formats (`format`), their negotiation (`negotiate`), then the encoders: text (`text`,
//! over the typed columns of `json`), the binary ones (`ipc`, `parquet`, `workbook`), and `encoder`, which wraps them
//! all.
//! `docs/formats.md` specifies how each Arrow type is written in each format.

mod calendar;
pub mod coding;
mod column;
pub mod encoder;
mod escape;
pub mod format;
pub mod html;
mod in_place;
mod ipc;
pub mod json;
pub mod negotiate;
mod number;
mod parquet;
pub mod portable;
mod quality;
pub mod received_arrow;
mod short_copy;
mod slice_write;
mod span;
pub mod style;
pub mod text;
mod workbook;

pub use coding::{Coding, Compressor};
pub use encoder::{Encoder, encode};
pub use format::{Choice, Format};
pub use negotiate::{names_before, negotiate};
pub use portable::{Portable, PortableFormat};
pub use received_arrow::{arrow_stream_rows, receive_arrow_stream};
pub use style::{FilterForm, Navigation, Nulls, Style};
pub use text::TextEncoder;
