//! Files of R and Python through the doors: what is declared, what is called, what is refused.

mod applications;
mod arguments;
mod fault_injection;
mod files;
mod gather;
mod jobs;
mod pure;
mod python_applications;
mod routes;
mod sandbox;
mod sql;
mod tables;

use super::server::Server;

/// The founding text's service as it stands.
const FOUNDING: &str = r#"
calc_fib = function(n) {
  if (n < 0L) stop("n should be >= 0")
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x = rep(1L, n)
  for (i in 3L:n) x[[i]] = x[[i - 1]] + x[[i - 2]]
  x[[n]]
}

library(RestRserve)
backend = BackendRserve$new()

app = Application$new(content_type = "text/plain")
app$logger$set_log_level("off")

app$add_get("/fib", FUN = function(request, response) {
  n = as.integer(request$get_param_query("n"))
  if (length(n) == 0L || is.na(n)) {
    raise(HTTPError$bad_request())
  }
  response$set_body(list(answer = calc_fib(n)))
})
backend$start(app = app, http_port = 8080)
"#;

/// Serves `files`, of which those in `functions` are run. It is ready when each is loaded or can't be.
fn serve(toml: &str, files: &[(&str, &[u8])]) -> Server {
    Server::with(toml, files)
}
