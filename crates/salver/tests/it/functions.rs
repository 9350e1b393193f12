//! Files of R and Python through the doors: what is declared, what is called, what is refused.

mod applications;
mod arguments;
mod weather;

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

/// Serves `files`, of which those in `functions` are run, and waits until each is loaded or can't be.
fn serve(toml: &str, files: &[(&str, &[u8])]) -> Server {
    // A directory of functions alone is enough to serve.
    let server = Server::with(toml, files);
    server.until(|server| {
        let listed = server.get("/api/functions");
        let settled = |file: &serde_json::Value| {
            file["endpoints"].is_array()
                || !file["failure"]["message"].as_str().is_some_and(|m| m.contains("is being loaded"))
        };
        listed.status == 200 && listed.json().as_array().is_some_and(|files| files.iter().all(settled))
    });
    server
}
