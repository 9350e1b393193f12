# What options and the environment set.
Sys.setenv(RESTRSERVE_RUNTIME_ASSERTS = "FALSE")
options(RestRserve.headers.server = "Own/1", RestRserve.headers.split = c("x-list", "cookie"), RestRserve.runtime.asserts = FALSE)
library(RestRserve)
app <- Application$new(content_type = "application/json")
app$add_get("/split", function(.req, .res) .res$set_body(list(.req$headers[["x-list"]], .req$headers[["accept"]])))
app$add_get("/server", function(.req, .res) .res$set_body(getOption("RestRserve.headers.server")))
app$logger$set_log_level("off")
BackendRserve$new()$start(app, http_port = 8080, "http.raw.body" = TRUE, "https.port" = 8443, "tls.key" = "none", port = 9000)

#> GET /split | x-list: a, b | accept: c, d
#< 200 application/json [["a","b"],"c, d"]
#> GET /server
#< 200 application/json "Own/1"
