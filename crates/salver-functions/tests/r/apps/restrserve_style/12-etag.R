library(RestRserve)
app <- Application$new(middleware = list(EncodeDecodeMiddleware$new(), ETagMiddleware$new(
  routes = "/tagged", match = "partial", hash_function = function(body) paste0("h-", body[[1L]]),
  last_modified_function = function(body) as.POSIXlt("2020-01-02 03:04:05", tz = "GMT")
)))
app$add_get("/tagged", function(.req, .res) .res$set_body("x"))
app$add_get("/free", function(.req, .res) .res$set_body("y"))
app

#> GET /tagged
#< 200 text/plain x
#> GET /tagged | if-none-match: h-x
#< 304 text/plain 
#> GET /tagged | if-none-match: other
#< 200 text/plain x
#> GET /tagged | if-match: other
#< 412 text/plain 
#> GET /tagged | if-match: h-x
#< 200 text/plain x
#> GET /tagged | if-modified-since: Fri, 03 Jan 2020 00:00:00 GMT
#< 304 text/plain 
#> GET /tagged | if-unmodified-since: Wed, 01 Jan 2020 00:00:00 GMT
#< 412 text/plain 
#> GET /free | if-none-match: h-y
#< 200 text/plain y
