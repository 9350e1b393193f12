//! The contract of the `SessionStore` port, clause by clause.

use salver_model::Code;
use salver_model::ports::SessionStore;

/// Runs the suite on a store without a journal, and leaves it so.
///
/// # Panics
/// When the contract is broken.
pub fn run(store: &dyn SessionStore) {
    assert!(!store.place().is_empty());
    let read = || store.read().expect("it can be read");
    assert_eq!(read(), b"", "nothing is there");
    store.remove().expect("nothing is removed");
    assert_eq!(store.append(b"a\n").expect_err("there is nothing to add to").code, Code::Source);
    store.replace(b"a\nb\n").expect("it can be written");
    assert_eq!(read(), b"a\nb\n");
    // Whatever the bytes, and as often as wanted.
    for line in [&b"c\n"[..], b"\xff\0", b"", b"\n"] {
        store.append(line).expect("it can be added to");
    }
    assert_eq!(read(), b"a\nb\nc\n\xff\0\n");
    store.replace(b"d").expect("it can be written");
    assert_eq!(read(), b"d", "nothing of before is left");
    store.remove().expect("it can be removed");
    assert_eq!(read(), b"");
}
