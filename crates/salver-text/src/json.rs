//! JSON (RFC 8259) without values: where something begins and ends in a text, and what its strings contain.
//!
//! Nothing here builds values; serde_json does. What is found here keeps the text as it was written, such as the digits
//! of a number, which serde_json would round.
//!
//! Two walks over JSON stand elsewhere, in `event` of `salver-streams`: `validate`, which checks, and `skim`, which
//! finds the end of what may be damaged. They share the search for the ends of strings and of white space (`scan`),
//! which is where the bytes go; what is left of each is its grammar, and no two need the same.

mod ending;
mod escape;
mod php;
mod reader;
mod scan;

pub use ending::Ending;
pub use escape::unescape;
pub use php::write_php_string;
pub use reader::{Reader, Text};
pub use scan::{blank_end, pieces, plain_end, string_end};
