//! Black-box tests: the real program, real files, real sockets. One binary, so that linking is paid once.

mod it {
    pub(crate) mod server;

    mod cache;
    mod formats;
    mod golden;
    mod limits;
    mod malformed;
    mod paging;
    mod refresh;
    mod sql;
}
