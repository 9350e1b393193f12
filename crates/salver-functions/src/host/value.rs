//! R values: creating and reading them, and calling functions of R.
//!
//! Every value made or returned here is put on R's stack of protected objects until the [`Inside`] or the inner scope
//! it was made in ends, and can't be had for longer: its lifetime is a borrow of that. Inside an inner scope values are
//! made with what the scope is given, not with what is around it. Anything here may raise an error of R, which ends
//! the guarded function (see `session`); so none of these functions, nor their callers, own something to drop then.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;

use super::library::{Api, Sexp};

/// `CE_UTF8` and `CE_NATIVE`: how text is marked.
const UTF_8: c_int = 1;
const NATIVE: c_int = 0;
/// Representation of a missing integer or logical value.
pub(super) const MISSING: i32 = i32::MIN;

/// Access to R within a guarded function.
pub(super) struct Inside<'r> {
    pub(super) api: &'r Api,
    /// Number of protected objects.
    pub(super) kept: Cell<c_int>,
}

/// Value that R keeps alive for `'x`.
#[derive(Clone, Copy)]
pub(super) struct Value<'x>(Sexp, PhantomData<&'x ()>);

/// Object that R keeps alive for the life of the process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preserved(Sexp);

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RValueKind {
    Null,
    Logical,
    Integer,
    Double,
    Complex,
    Text,
    List,
    Raw,
    Symbol,
    Other,
}

/// Attribute that can be read or set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attribute {
    Names,
    Class,
    Levels,
    Dimensions,
    RowNames,
    /// Time zone for display of a time.
    Zone,
}

/// Creation of values.
impl Inside<'_> {
    /// Protects an object.
    fn keep(&self, object: Sexp) -> Value<'_> {
        // SAFETY: an object R just gave.
        unsafe { (self.api.protect)(object) };
        self.kept.set(self.kept.get() + 1);
        Value(object, PhantomData)
    }

    /// Unprotects all but the first `first` objects.
    pub(super) fn release(&self, first: c_int) {
        // SAFETY: exactly those that `keep` put there.
        unsafe { (self.api.unprotect)(self.kept.get() - first) };
        self.kept.set(first);
    }

    /// Returns `NULL`.
    pub(super) fn null(&self) -> Value<'_> {
        // SAFETY: set once R has started; never collected.
        Value(unsafe { *self.api.nil }, PhantomData)
    }

    /// Creates an integer.
    pub(super) fn integer(&self, number: i32) -> Value<'_> {
        // SAFETY: raises at worst.
        self.keep(unsafe { (self.api.integer)(number) })
    }

    /// Creates a double.
    pub(super) fn double(&self, number: f64) -> Value<'_> {
        // SAFETY: raises at worst.
        self.keep(unsafe { (self.api.double)(number) })
    }

    /// Creates a logical.
    pub(super) fn logical(&self, truth: bool) -> Value<'_> {
        // SAFETY: raises at worst.
        self.keep(unsafe { (self.api.logical)(c_int::from(truth)) })
    }

    /// Creates a character vector of length one.
    pub(super) fn text(&self, text: impl AsRef<[u8]>) -> Value<'_> {
        let value = self.vector(RValueKind::Text, 1);
        self.set_text(value, 0, Some(text));
        value
    }

    /// Creates an uninitialized vector of this kind, except that texts are empty and list elements `NULL`.
    pub(super) fn vector(&self, kind: RValueKind, length: usize) -> Value<'_> {
        // SAFETY: a kind of vector; raises when there is no memory.
        self.keep(unsafe { (self.api.allocate)(number_of(kind), length.cast_signed()) })
    }

    /// Creates a raw vector with these bytes.
    pub(super) fn raw(&self, bytes: &[u8]) -> Value<'_> {
        let value = self.vector(RValueKind::Raw, bytes.len());
        if !bytes.is_empty() {
            // SAFETY: the vector has that length and was made here, so nobody else looks at it.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (self.api.bytes)(value.0), bytes.len()) };
        }
        value
    }

    /// Creates a vector of integers (or logicals: zero and one) from exactly `length` numbers.
    pub(super) fn integers(&self, kind: RValueKind, length: usize, numbers: impl Iterator<Item = i32>) -> Value<'_> {
        let value = self.vector(if kind == RValueKind::Logical { kind } else { RValueKind::Integer }, length);
        if length > 0 {
            // SAFETY: as in `raw`; both kinds hold C integers.
            let places = unsafe {
                let first = if kind == RValueKind::Logical {
                    (self.api.logicals)(value.0)
                } else {
                    (self.api.integers)(value.0)
                };
                first.write_bytes(0, length);
                std::slice::from_raw_parts_mut(first, length)
            };
            places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        }
        value
    }

    /// Creates a vector of doubles from exactly `length` numbers.
    pub(super) fn doubles(&self, length: usize, numbers: impl Iterator<Item = f64>) -> Value<'_> {
        let value = self.vector(RValueKind::Double, length);
        if length > 0 {
            // SAFETY: as in `raw`.
            let places = unsafe {
                let first = (self.api.doubles)(value.0);
                first.write_bytes(0, length);
                std::slice::from_raw_parts_mut(first, length)
            };
            places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number);
        }
        value
    }

    /// Returns the double that means missing: a NaN with 1954 in its low word.
    pub(super) fn missing_double() -> f64 {
        f64::from_bits(0x7FF0_0000_0000_07A2)
    }

    /// Returns whether a double means missing. Arithmetic preserves its low word.
    pub(super) fn is_missing_double(number: f64) -> bool {
        let low = |number: f64| number.to_bits() & u64::from(u32::MAX);
        number.is_nan() && low(number) == low(Self::missing_double())
    }

    /// Stores a text, or the missing one, in a character vector. It should be UTF-8 and must not contain a zero byte.
    pub(super) fn set_text(&self, vector: Value<'_>, index: usize, text: Option<impl AsRef<[u8]>>) {
        // SAFETY: R checks the kind and the index; a text too long for it has the length -1, at which it raises too.
        unsafe {
            let characters = match text {
                None => *self.api.missing_string,
                Some(text) => {
                    let text = text.as_ref();
                    let length = c_int::try_from(text.len()).unwrap_or(-1);
                    (self.api.characters)(text.as_ptr().cast(), length, UTF_8)
                }
            };
            (self.api.set_string)(vector.0, index.cast_signed(), characters);
        }
    }

    /// Creates a character vector.
    pub(super) fn texts<T: AsRef<[u8]>>(&self, length: usize, texts: impl Iterator<Item = T>) -> Value<'_> {
        let value = self.vector(RValueKind::Text, length);
        texts.take(length).enumerate().for_each(|(index, text)| self.set_text(value, index, Some(text)));
        value
    }

    /// Stores the result of `make` in a list; its other values are unprotected.
    pub(super) fn set(&self, list: Value<'_>, index: usize, make: impl for<'y> FnOnce(&'y Self) -> Value<'y>) {
        let first = self.kept.get();
        self.put(list, index, make(self));
        self.release(first);
    }

    /// Stores a value in a list.
    pub(super) fn put(&self, list: Value<'_>, index: usize, value: Value<'_>) {
        // SAFETY: both are protected; R checks the kind and the index.
        unsafe { (self.api.set_element)(list.0, index.cast_signed(), value.0) };
    }

    /// Sets the names of a vector.
    pub(super) fn set_names(&self, vector: Value<'_>, names: Value<'_>) {
        self.set_attribute(vector, Attribute::Names, names);
    }

    /// Sets an attribute of a vector.
    pub(super) fn set_attribute(&self, vector: Value<'_>, attribute: Attribute, value: Value<'_>) {
        // SAFETY: both are protected; R checks whether the one fits the other.
        unsafe { (self.api.set_attribute)(vector.0, self.symbol(attribute), value.0) };
    }

    /// Creates an array of plain Rust values in R's memory, so that it is not leaked when R raises an error.
    pub(super) fn array<T: Copy>(&self, length: usize, mut make: impl FnMut(usize) -> T) -> &[T] {
        const { assert!(align_of::<T>() <= 8, "R's vectors begin at multiples of eight") };
        if length == 0 || size_of::<T>() == 0 {
            return &[];
        }
        let memory = self.vector(RValueKind::Raw, length.saturating_mul(size_of::<T>()));
        // SAFETY: the vector has room for so many, aligned, and nobody else knows it; each is written before the slice
        // of all is made.
        unsafe {
            let first = (self.api.bytes)(memory.0).cast::<T>();
            (0..length).for_each(|index| first.add(index).write(make(index)));
            std::slice::from_raw_parts(first, length)
        }
    }

    /// Calls an R function. `None`: it raised an error, which is not printed.
    pub(super) fn call(&self, function: Value<'_>, arguments: &[Value<'_>]) -> Option<Value<'_>> {
        let first = self.kept.get();
        // SAFETY: what was made so far is protected at every allocation.
        unsafe {
            let mut list = *self.api.nil;
            for argument in arguments.iter().rev() {
                list = self.keep((self.api.cons)(argument.0, list)).0;
            }
            let call = self.keep((self.api.cons_call)(function.0, list)).0;
            let mut failed = 0;
            let result = (self.api.try_eval)(call, *self.api.global, &raw mut failed);
            self.release(first);
            if failed != 0 { None } else { Some(self.keep(result)) }
        }
    }

    /// Evaluates the text of one expression.
    pub(super) fn evaluate(&self, text: &CStr) -> Value<'_> {
        // SAFETY: a C string; raises at worst.
        self.keep(unsafe { (self.api.parse_eval)(text.as_ptr(), *self.api.global) })
    }

    /// Keeps a value alive forever.
    pub(super) fn for_ever(&self, value: Value<'_>) -> Preserved {
        // SAFETY: protected until then.
        unsafe { (self.api.preserve)(value.0) };
        Preserved(value.0)
    }

    /// Runs the garbage collector.
    pub(super) fn collect(&self) {
        // SAFETY: everything in use is protected.
        unsafe { (self.api.collect)() };
    }
}

/// Reading of values.
impl Inside<'_> {
    /// Returns the kind of a value.
    pub(super) fn kind(&self, value: Value<'_>) -> RValueKind {
        // SAFETY: a protected object.
        match unsafe { (self.api.kind)(value.0) } {
            0 => RValueKind::Null,
            1 => RValueKind::Symbol,
            10 => RValueKind::Logical,
            13 => RValueKind::Integer,
            14 => RValueKind::Double,
            15 => RValueKind::Complex,
            16 => RValueKind::Text,
            19 | 20 => RValueKind::List,
            24 => RValueKind::Raw,
            _ => RValueKind::Other,
        }
    }

    /// Returns the number of elements.
    pub(super) fn length(&self, value: Value<'_>) -> usize {
        // SAFETY: a protected object.
        unsafe { (self.api.length)(value.0) }.cast_unsigned()
    }

    /// Returns whether it has a class.
    pub(super) fn has_class(&self, value: Value<'_>) -> bool {
        // SAFETY: a protected object.
        unsafe { (self.api.is_object)(value.0) != 0 }
    }

    /// Returns whether it inherits from this class.
    pub(super) fn inherits(&self, value: Value<'_>, class: &CStr) -> bool {
        // SAFETY: a protected object and a C string.
        unsafe { (self.api.inherits)(value.0, class.as_ptr()) != 0 }
    }

    /// Returns an attribute; `NULL` when it is missing. Names and row names may be created on demand, so it is
    /// protected.
    pub(super) fn attribute(&self, value: Value<'_>, attribute: Attribute) -> Value<'_> {
        // SAFETY: a protected object and a symbol.
        self.keep(unsafe { (self.api.attribute)(value.0, self.symbol(attribute)) })
    }

    /// Returns the symbol of an attribute's name.
    fn symbol(&self, attribute: Attribute) -> Sexp {
        // SAFETY: variables that are set once R has started, and a C string of which R makes a symbol. Symbols are
        // never collected.
        unsafe {
            match attribute {
                Attribute::Names => *self.api.names,
                Attribute::Class => *self.api.class,
                Attribute::Levels => *self.api.levels,
                Attribute::Dimensions => *self.api.dimensions,
                Attribute::RowNames => *self.api.row_names,
                Attribute::Zone => (self.api.symbol)(c"tzone".as_ptr()),
            }
        }
    }

    /// Returns the integers or logicals of a vector.
    pub(super) fn numbers<'x>(&self, value: Value<'x>) -> &'x [i32] {
        let length = self.length(value);
        if length == 0 {
            return &[];
        }
        // SAFETY: R raises when the kind is another. The elements stay as they are while the value is protected and no
        // function of R is called that changes it.
        unsafe {
            let logical = self.kind(value) == RValueKind::Logical;
            let first = if logical { (self.api.logicals)(value.0) } else { (self.api.integers)(value.0) };
            std::slice::from_raw_parts(first, length)
        }
    }

    /// Returns the doubles of a vector.
    pub(super) fn reals<'x>(&self, value: Value<'x>) -> &'x [f64] {
        match self.length(value) {
            0 => &[],
            // SAFETY: as in `numbers`.
            length => unsafe { std::slice::from_raw_parts((self.api.doubles)(value.0), length) },
        }
    }

    /// Returns the bytes of a raw vector.
    pub(super) fn bytes<'x>(&self, value: Value<'x>) -> &'x [u8] {
        match self.length(value) {
            0 => &[],
            // SAFETY: as in `numbers`.
            length => unsafe { std::slice::from_raw_parts((self.api.bytes)(value.0), length) },
        }
    }

    /// Returns an element of a list, protected like the list.
    pub(super) fn element<'x>(&self, list: Value<'x>, index: usize) -> Value<'x> {
        // SAFETY: R checks the kind and the index.
        Value(unsafe { (self.api.element)(list.0, index.cast_signed()) }, PhantomData)
    }

    /// Reads a text of a character vector: UTF-8, unless user code declared a wrong encoding. `None`: it is missing.
    pub(super) fn with_string<T: Copy>(
        &self,
        value: Value<'_>,
        index: usize,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        // SAFETY: R checks the kind and the index; the characters end with a zero byte and stay while the vector does,
        // a translation until the mark is reset.
        unsafe {
            let string = (self.api.string)(value.0, index.cast_signed());
            if string == *self.api.missing_string {
                return None;
            }
            let own = (self.api.characters_data)(string);
            let own = std::slice::from_raw_parts(own.cast::<u8>(), (self.api.length)(string).cast_unsigned());
            let encoding = (self.api.encoding)(string);
            let plain = own.is_ascii() || encoding == UTF_8 || (encoding == NATIVE && std::str::from_utf8(own).is_ok());
            if plain {
                return Some(read(own));
            }
            let mark = (self.api.transient_mark)();
            let result = read(CStr::from_ptr((self.api.translate)(string)).to_bytes());
            (self.api.transient_reset)(mark);
            Some(result)
        }
    }

    /// Returns whether an element of a character vector comes twice. R keeps each text once, so that equal ones of one
    /// encoding are one object.
    pub(super) fn has_repeated(&self, texts: Value<'_>) -> bool {
        // SAFETY: R checks the kind and the index.
        let string = |index: usize| unsafe { (self.api.string)(texts.0, index.cast_signed()) };
        let length = self.length(texts);
        if length <= Self::FEW {
            return (1..length).any(|index| (0..index).any(|before| string(before) == string(index)));
        }
        // Nothing of R raises an error while this is held.
        let mut all: Vec<_> = (0..length).map(string).collect();
        all.sort_unstable();
        all.windows(2).any(|two| two[0] == two[1])
    }

    /// Elements that are compared in pairs, which takes no memory.
    const FEW: usize = 16;

    /// Returns the result of `work`, and unprotects the values it created.
    pub(super) fn scope<T: Copy>(&self, work: impl FnOnce(&Self) -> T) -> T {
        let first = self.kept.get();
        let result = work(self);
        self.release(first);
        result
    }
}

impl Value<'_> {
    /// Returns the value of an object that is kept forever.
    pub(super) fn of(kept: Preserved) -> Self {
        Self(kept.0, PhantomData)
    }
}

/// Returns R's number of a kind of vector.
fn number_of(kind: RValueKind) -> u32 {
    match kind {
        RValueKind::Logical => 10,
        RValueKind::Integer => 13,
        RValueKind::Double => 14,
        RValueKind::Complex => 15,
        RValueKind::Text => 16,
        RValueKind::List => 19,
        RValueKind::Raw => 24,
        RValueKind::Null | RValueKind::Symbol | RValueKind::Other => 0,
    }
}
