//! R running in this process: started once, entered for each piece of work.
//!
//! R reports an error by `longjmp`, which must not pass a Rust frame that has something to drop. So everything that
//! can raise one happens in a *guarded* function, called by `R_ToplevelExec`, where such a jump ends. Guarded
//! functions, and what they call while R may raise, hold only borrowed and plain values; what is built up in Rust
//! belongs to a context that lives outside and stays whole whenever the jump comes. A function pointer instead of a
//! closure keeps owned captures out. A panic there is a mistake of this program: it ends the process, as anywhere.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;

use super::library::{self, Api};
use super::process;
use super::value::Inside;

/// Started R.
#[derive(Debug)]
pub(super) struct RSession {
    api: Api,
    /// Prefixes of R's out-of-memory errors, in its current language.
    memory: Vec<String>,
}

/// Message of an uncaught R error.
#[derive(Debug)]
pub(super) struct Raised(pub(super) String);

/// Expression for the texts of R's out-of-memory errors.
const MEMORY_ERRORS: &CStr = c"base::gettext(
    'cannot allocate vector of size %0.1f Gb', 'cannot allocate vector of length %lld',
    'cannot allocate memory block of size %0.1f Gb', 'memory exhausted (limit reached?)',
    domain = 'R')";

/// Argument passed through `R_ToplevelExec`: the entry function, and the work with its context.
struct Entry<'a, C> {
    api: &'a Api,
    context: &'a mut C,
    work: fn(&Inside<'_>, &mut C) -> Option<()>,
    done: bool,
}

impl RSession {
    /// Starts R of this home, as for running `file`.
    ///
    /// # Errors
    /// Returns the problem of the installation.
    pub(super) fn start(home: &Path, file: &str) -> Result<Self, String> {
        let api = library::open(home)?;
        let file = format!("--file={file}");
        let mut arguments = Vec::new();
        for argument in ["R", "--no-echo", "--no-restore", "--no-save", &file] {
            let argument = CString::new(argument).map_err(|_| "the file's path has a zero byte".to_owned())?;
            // R keeps the pointers, so they are never freed.
            arguments.push(argument.into_raw());
        }
        let arguments: &'static mut [*mut c_char] = Vec::leak(arguments);
        let count = i32::try_from(arguments.len()).map_err(|error| error.to_string())?;
        // SAFETY: the main thread, once; the arguments live for ever. `setup_Rmainloop` catches what start-up files
        // raise. Signals stay as they are: an R that answers calls is ended from outside.
        unsafe {
            *api.handle_signals = 0;
            (api.initialize)(count, arguments.as_mut_ptr());
            *api.interactive = 0;
            (api.set_up)();
        }
        let mut session = Self { api, memory: Vec::new() };
        session.memory = session.memory_errors().map_err(|raised| raised.0)?;
        Ok(session)
    }

    /// Asks R for the prefixes of its out-of-memory errors, up to the first number.
    fn memory_errors(&self) -> Result<Vec<String>, Raised> {
        let mut beginnings = Vec::new();
        self.enter(&mut beginnings, |inside, beginnings| {
            let texts = inside.evaluate(MEMORY_ERRORS);
            for index in 0..inside.length(texts) {
                inside.with_string(texts, index, |text| {
                    let text = String::from_utf8_lossy(text);
                    beginnings.extend(text.split('%').next().map(|text| text.trim_end().to_owned()));
                });
            }
            Some(())
        })?;
        Ok(beginnings)
    }

    /// Returns whether an R error message means that memory ran out.
    pub(super) fn is_memory(&self, raised: &str) -> bool {
        self.memory.iter().any(|beginning| raised.contains(beginning.as_str()))
    }

    /// Runs `work` where R may raise errors. When it does, the rest of `work` is skipped. `None` from `work` means an
    /// error of a function it called.
    ///
    /// # Errors
    /// Returns the error that R raised.
    pub(super) fn enter<C>(&self, context: &mut C, work: fn(&Inside<'_>, &mut C) -> Option<()>) -> Result<(), Raised> {
        let mut entry = Entry { api: &self.api, context, work, done: false };
        // SAFETY: `run::<C>` gets the entry it is typed for, alive until the call returns.
        unsafe { (self.api.toplevel)(run::<C>, (&raw mut entry).cast()) };
        if entry.done { Ok(()) } else { Err(self.raised()) }
    }

    /// Returns the last error, as R would have printed it.
    fn raised(&self) -> Raised {
        // SAFETY: R's own buffer, a C string that stays until the next error.
        let text = unsafe { CStr::from_ptr((self.api.error_text)()) }.to_string_lossy();
        Raised(text.trim_end().to_owned())
    }

    /// Marks this process as a copy: its exit must not remove shared resources, such as the directory of temporary
    /// files.
    pub(super) fn is_copy(&self) {
        unsafe extern "C-unwind" fn leave(_save: c_int, status: c_int, _last: c_int) {
            process::end(status);
        }
        // SAFETY: variables of R, which it reads at the end, or when it forks on its own.
        unsafe {
            *self.api.forked_child = 1;
            *self.api.clean_up = leave;
        }
    }

    /// Removes R's directory of temporary files.
    pub(super) fn clean(&self) {
        // SAFETY: removes files; raises nothing.
        unsafe { (self.api.clean_directory)() };
    }
}

/// Guarded function: from here on R may jump.
unsafe extern "C-unwind" fn run<C>(entry: *mut c_void) {
    // SAFETY: see `RSession::enter`.
    let entry = unsafe { &mut *entry.cast::<Entry<'_, C>>() };
    let inside = Inside { api: entry.api, kept: Cell::new(0) };
    entry.done = (entry.work)(&inside, entry.context).is_some();
    inside.release(0);
}
