//! The shared library of R, opened at run time, with the symbols this crate needs.
//!
//! Nothing is linked: a server without R is the same program. Every signature below is that of `Rinternals.h`,
//! `Rembedded.h` or `Rinterface.h`, where they have stood since R 3.5.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_double, c_int, c_uchar, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Object of R. Only used behind a pointer.
#[repr(C)]
pub(super) struct Object {
    _opaque: [u8; 0],
}

/// `SEXP`.
pub(super) type Sexp = *mut Object;

/// Function run by `R_ToplevelExec`.
pub(super) type Body = unsafe extern "C-unwind" fn(*mut c_void);

/// Function with which R ends the process: whether to save, the status, whether to run `.Last`.
pub(super) type CleanUp = unsafe extern "C-unwind" fn(c_int, c_int, c_int);

/// Declares the table of symbols and its loading: functions by their type, variables as pointers to theirs.
macro_rules! symbols {
    ($($name:ident : $kind:ty = $symbol:literal,)*) => {
        /// The symbols.
        #[derive(Clone, Copy)]
        pub(super) struct Api { $(pub(super) $name: $kind,)* }

        impl Api {
            /// Looks up every symbol.
            fn resolve(library: *mut c_void) -> Result<Self, String> {
                Ok(Self { $($name: {
                    let address = symbol(library, $symbol)?;
                    // SAFETY: the symbol is there, and its type is the one R's headers declare. Functions and pointers
                    // to variables are both one address wide.
                    unsafe { std::mem::transmute_copy::<*mut c_void, $kind>(&address) }
                },)* })
            }
        }
    };
}

symbols! {
    initialize: unsafe extern "C-unwind" fn(c_int, *mut *mut c_char) -> c_int = c"Rf_initialize_R",
    set_up: unsafe extern "C-unwind" fn() = c"setup_Rmainloop",
    handle_signals: *mut c_int = c"R_SignalHandlers",
    interactive: *mut c_int = c"R_Interactive",
    forked_child: *mut c_int = c"R_isForkedChild",
    clean_up: *mut CleanUp = c"ptr_R_CleanUp",
    clean_directory: unsafe extern "C-unwind" fn() = c"R_CleanTempDir",
    toplevel: unsafe extern "C-unwind" fn(Body, *mut c_void) -> c_int = c"R_ToplevelExec",
    try_eval: unsafe extern "C-unwind" fn(Sexp, Sexp, *mut c_int) -> Sexp = c"R_tryEvalSilent",
    error_text: unsafe extern "C-unwind" fn() -> *const c_char = c"R_curErrorBuf",
    parse_eval: unsafe extern "C-unwind" fn(*const c_char, Sexp) -> Sexp = c"R_ParseEvalString",
    collect: unsafe extern "C-unwind" fn() = c"R_gc",
    protect: unsafe extern "C-unwind" fn(Sexp) -> Sexp = c"Rf_protect",
    unprotect: unsafe extern "C-unwind" fn(c_int) = c"Rf_unprotect",
    preserve: unsafe extern "C-unwind" fn(Sexp) = c"R_PreserveObject",
    allocate: unsafe extern "C-unwind" fn(KindNumber, isize) -> Sexp = c"Rf_allocVector",
    cons_call: unsafe extern "C-unwind" fn(Sexp, Sexp) -> Sexp = c"Rf_lcons",
    cons: unsafe extern "C-unwind" fn(Sexp, Sexp) -> Sexp = c"Rf_cons",
    integer: unsafe extern "C-unwind" fn(c_int) -> Sexp = c"Rf_ScalarInteger",
    double: unsafe extern "C-unwind" fn(c_double) -> Sexp = c"Rf_ScalarReal",
    logical: unsafe extern "C-unwind" fn(c_int) -> Sexp = c"Rf_ScalarLogical",
    characters: unsafe extern "C-unwind" fn(*const c_char, c_int, c_int) -> Sexp = c"Rf_mkCharLenCE",
    translate: unsafe extern "C-unwind" fn(Sexp) -> *const c_char = c"Rf_translateCharUTF8",
    encoding: unsafe extern "C-unwind" fn(Sexp) -> c_int = c"Rf_getCharCE",
    characters_data: unsafe extern "C-unwind" fn(Sexp) -> *const c_char = c"R_CHAR",
    set_string: unsafe extern "C-unwind" fn(Sexp, isize, Sexp) = c"SET_STRING_ELT",
    string: unsafe extern "C-unwind" fn(Sexp, isize) -> Sexp = c"STRING_ELT",
    set_element: unsafe extern "C-unwind" fn(Sexp, isize, Sexp) -> Sexp = c"SET_VECTOR_ELT",
    element: unsafe extern "C-unwind" fn(Sexp, isize) -> Sexp = c"VECTOR_ELT",
    kind: unsafe extern "C-unwind" fn(Sexp) -> c_int = c"TYPEOF",
    length: unsafe extern "C-unwind" fn(Sexp) -> isize = c"Rf_xlength",
    is_object: unsafe extern "C-unwind" fn(Sexp) -> c_int = c"OBJECT",
    inherits: unsafe extern "C-unwind" fn(Sexp, *const c_char) -> c_int = c"Rf_inherits",
    attribute: unsafe extern "C-unwind" fn(Sexp, Sexp) -> Sexp = c"Rf_getAttrib",
    symbol: unsafe extern "C-unwind" fn(*const c_char) -> Sexp = c"Rf_install",
    set_attribute: unsafe extern "C-unwind" fn(Sexp, Sexp, Sexp) -> Sexp = c"Rf_setAttrib",
    integers: unsafe extern "C-unwind" fn(Sexp) -> *mut c_int = c"INTEGER",
    logicals: unsafe extern "C-unwind" fn(Sexp) -> *mut c_int = c"LOGICAL",
    doubles: unsafe extern "C-unwind" fn(Sexp) -> *mut c_double = c"REAL",
    bytes: unsafe extern "C-unwind" fn(Sexp) -> *mut c_uchar = c"RAW",
    transient_mark: unsafe extern "C-unwind" fn() -> *mut c_void = c"vmaxget",
    transient_reset: unsafe extern "C-unwind" fn(*mut c_void) = c"vmaxset",
    nil: *const Sexp = c"R_NilValue",
    global: *const Sexp = c"R_GlobalEnv",
    missing_string: *const Sexp = c"R_NaString",
    names: *const Sexp = c"R_NamesSymbol",
    class: *const Sexp = c"R_ClassSymbol",
    levels: *const Sexp = c"R_LevelsSymbol",
    dimensions: *const Sexp = c"R_DimSymbol",
    row_names: *const Sexp = c"R_RowNamesSymbol",
}

/// `SEXPTYPE`, an unsigned int in C.
type KindNumber = std::ffi::c_uint;

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Api")
    }
}

/// Opens `libR.so` of this home of R.
///
/// # Errors
/// Returns the linker's message when the library or one of its symbols is not available.
pub(super) fn open(home: &Path) -> Result<Api, String> {
    let folder = home.join("lib");
    // Some installations bring these along in a search path that is not set here; once opened, they are found by name.
    for companion in ["libRblas.so", "libRlapack.so"] {
        if folder.join(companion).exists() {
            load(&folder.join(companion))?;
        }
    }
    let own = folder.join("libR.so");
    Api::resolve(load(if own.exists() { &own } else { Path::new("libR.so") })?)
}

/// Calls `dlopen` and never closes the library: its symbols are global for everything loaded later.
fn load(path: &Path) -> Result<*mut c_void, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the name ends with a zero byte; the library is R's, whose initialisers ask nothing of who loads it.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if library.is_null() { Err(last_error()) } else { Ok(library) }
}

/// Calls `dlsym`.
fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: `library` came from `dlopen` and is never closed.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() { Err(last_error()) } else { Ok(address) }
}

/// Returns the message of `dlerror`.
fn last_error() -> String {
    // SAFETY: the text is valid until the next call of `dl...` in this only thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker says no more".to_owned();
    }
    // SAFETY: not null, so it is a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
