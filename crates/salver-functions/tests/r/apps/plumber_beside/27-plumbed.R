# Routers that are made of other files and packages.
#* @plumber
function(pr) {
  hello <- plumb("01-hello.R")
  built <- suppressWarnings(plumber$new("11-errors.R"))
  example <- plumb_api("plumber", "01-append")
  pr |>
    pr_mount("/hello", hello) |>
    pr_mount("/errors", built) |>
    pr_mount("/example", example) |>
    pr_get("/apis", function() head(available_apis("plumber")$name, 3))
}

#* @get /call
function() {
  router <- Plumber$new()
  router$handle("GET", "/x", function(n = 2) as.numeric(n) + 1)
  ask <- function(path, query = "") {
    req <- new.env()
    req$REQUEST_METHOD <- "GET"
    req$PATH_INFO <- path
    req$QUERY_STRING <- query
    req$rook.input <- list(read_lines = function() "", read = function() raw(), rewind = function() NULL)
    router$call(req)[c("status", "body")]
  }
  list(ask("/x"), ask("/x", "?n=4"), ask("/y"))
}

#> GET /hello/hello?name=x
#> GET /errors/stop
#> GET /errors/status
#> POST /example/append | content-type: application/json | {"val":4}
#> GET /apis
#> GET /call
