library(RestRserve)
app <- Application$new(middleware = list(CORSMiddleware$new(routes = c("/open", "/all"), match = c("exact", "partial"), id = "cors")))
app$add_get("/open", function(.req, .res) .res$set_body("open"))
app$add_get("/closed", function(.req, .res) .res$set_body(paste(is.null(.res$get_header("Access-Control-Allow-Origin")))))
options_of <- function(.req, .res) .res$set_header("Allow", "GET, OPTIONS")
app$add_route("/open", "OPTIONS", options_of)
app$add_get("/sees", function(.req, .res) {
  fields <- function(path, method = "GET", headers = list()) {
    names(app$process_request(Request$new(path = path, method = method, headers = headers))$headers)
  }
  allowed <- function(headers) setdiff(headers, "Server")
  .res$set_body(c(
    allowed(fields("/open")), length(allowed(fields("/closed"))), length(allowed(fields("/all/none"))),
    allowed(fields("/open", "OPTIONS", list("access-control-request-headers" = "x-a")))
  ))
})
app$logger$set_log_level("off")
app

#> GET /open
#< 200 text/plain open
#> GET /closed
#< 200 text/plain TRUE
#> OPTIONS /open
#< 200 text/plain 
#> GET /sees
#< 200 text/plain Access-Control-Allow-Origin\n0\n1\nAllow\nAccess-Control-Allow-Origin\nAccess-Control-Allow-Methods\nAccess-Control-Allow-Headers\nAccess-Control-Max-Age
