# What is deprecated, and what a router does for who serves it.
quietly <- function(expression) suppressWarnings(expression)
said <- function(expression) tryCatch(expression, error = function(e) conditionMessage(e))

request <- function(path, method = "GET") {
  req <- new.env()
  req$REQUEST_METHOD <- method
  req$PATH_INFO <- path
  req$QUERY_STRING <- ""
  req$HTTP_CONTENT_LENGTH <- "5"
  req$rook.input <- list(read_lines = function() "", read = function() raw(), rewind = function() NULL)
  req
}

#* @plumber
function(pr) {
  old <- Plumber$new()
  quietly({
    old$addEndpoint("GET", "/a", function() "a", serializer = serializer_text())
    old$addFilter("f", function(req, res) {
      res$setHeader("X-Old", "1")
      forward()
    })
    old$addAssets("./public", "/assets")
    old$addGlobalProcessor(list(preroute = function(data, req) data$seen <- TRUE))
  })
  copy <- old$clone()
  started <- said(pr$run())
  pr |>
    pr_mount("/old", old) |>
    pr_get("/spec", function() {
      old$setApiSpec(list(openapi = "3.0.3", own = TRUE))
      list(old$getApiSpec(), quietly(names(old$openAPIFile())), quietly(names(old$swaggerFile())))
    }) |>
    pr_get("/run", function() started) |>
    pr_get("/response", function(res) {
      res$status <- 201
      res$body <- "body"
      res$setHeader("X-Own", "1")
      res$toResponse()
    }, serializer = serializer_unboxed_json()) |>
    pr_hook("exit", function() message("the end")) |>
    pr_get("/served", function() list(
      said(old$onHeaders(request("/a"))), said(old$serve(request("/a"), structure(list(), class = "none"))$status),
      said(copy$call(request("/a"))$body),
      said(class(old$route(request("/none"), structure(list(), class = "none")))), said(old$onWSOpen(NULL)), class(copy)
    ))
}

#> GET /old/a
#> GET /old/assets/data.csv
#> GET /spec
#> GET /run
#> GET /response
#> GET /served
