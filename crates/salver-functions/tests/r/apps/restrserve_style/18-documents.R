library(RestRserve)
app <- Application$new()
app$logger$set_log_level("off")
fib <- function(.req, .res) {
  #' ---
  #' description: A number
  #' parameters:
  #'   - name: "n"
  #'     in: query
  #' ---
  .res$set_body("1")
}
app$add_get("/fib", fib, add_head = FALSE)
specification <- tempfile(fileext = ".yaml")
writeLines(c("openapi: 3.0.1", "info:", "  title: Written by hand"), specification)
app$add_openapi(path = "/openapi.yaml", file_path = specification)
app$add_swagger_ui(path = "/doc", path_openapi = "/openapi.yaml", use_cdn = TRUE, file_path = tempfile(fileext = ".html"))
app$add_get("/endpoints", function(.req, .res) .res$set_body(names(app$endpoints)))
app$add_get("/paths", function(.req, .res) .res$set_body(sort(unname(app$endpoints$GET), method = "radix")))
app$add_get("/printed", function(.req, .res) .res$set_body(utils::capture.output(print(app))[1L]))
app$add_get("/doc-is", function(.req, .res) {
  page <- paste(readLines(app$process_request(Request$new(path = "/doc"))$body[["file"]]), collapse = "")
  .res$set_body(c(grepl("swagger-ui", page), grepl("/openapi.yaml", page, fixed = TRUE)))
})
app$add_get("/spec-is", function(.req, .res) {
  .res$set_body(readLines(app$process_request(Request$new(path = "/openapi.yaml"))$body[["file"]]))
})
BackendRserve$new(jit_level = 0L, precompile = FALSE)$start(app, http_port = 8080, background = FALSE)

#> GET /fib
#< 200 text/plain 1
#> HEAD /fib
#< 404 text/plain 404 Not Found
#> GET /endpoints
#< 200 text/plain HEAD\nGET
#> GET /paths
#< 200 text/plain /doc\n/doc-is\n/endpoints\n/fib\n/openapi.yaml\n/paths\n/printed\n/spec-is
#> GET /printed
#< 200 text/plain <RestRserve Application>
#> GET /doc-is
#< 200 text/plain TRUE\nTRUE
#> GET /spec-is
#< 200 text/plain openapi: 3.0.1\ninfo:\n  title: Written by hand
