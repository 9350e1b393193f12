library(RestRserve)
other <- Application$new()
other$add_get("/x", function(.req, .res) .res$set_body("other"))
app <- Application$new(middleware = list())
app$add_get("/x", function(.req, .res) .res$set_body("app"))
app$add_get("/list", function(.req, .res) .res$set_body(list(1)))
app$add_get("/forbidden", function(.req, .res) raise(HTTPError$forbidden()))
last <- Application$new()
app

#> GET /x
#< 200 text/plain app
#> GET /none
#< 404 text/plain 404 Not Found
#> POST /x
#< 405 text/plain 405 Method Not Allowed
#> GET /forbidden
#< 403 text/plain 403 Forbidden
#> GET /list
#< 500 text/plain 500 Internal Server Error (body is not character or raw)
