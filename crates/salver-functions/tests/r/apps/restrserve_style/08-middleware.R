library(RestRserve)
seen <- 0L
count <- Middleware$new(
  process_request = function(.req, .res) seen <<- seen + 1L,
  process_response = function(.req, .res) .res$set_header("X-Seen", as.character(seen)),
  id = "count"
)
gate <- Middleware$new(
  process_request = function(.req, .res) {
    if (.req$path == "/closed") return(HTTPError$service_unavailable())
    .req$context$from <- "gate"
    TRUE
  },
  id = "gate"
)
app <- Application$new(middleware = list(EncodeDecodeMiddleware$new(), count))
app$append_middleware(gate)
app$append_middleware(CORSMiddleware$new("/open"))
app$add_get("/open", function(.req, .res) .res$set_body(.req$context$from))
app$add_get("/closed", function(.req, .res) .res$set_body("secret"))
app$add_route("/open", "OPTIONS", function(.req, .res) .res$set_header("Allow", "GET"))
app

#> GET /open
#< 200 text/plain gate
#> GET /closed
#< 503 text/plain 503 Service Unavailable
#> OPTIONS /open
#< 200 text/plain 
