library(RestRserve)
HTTPError$set_content_type("application/json")
HTTPError$set_encode(to_json)
app <- Application$new()
app$logger$set_log_level("off")
app$add_get("/teapot", function(.req, .res) raise(HTTPError$error(418L, body = list(error = "short and stout"))))
app$add_get("/returned", function(.req, .res) HTTPError$conflict(body = list(error = "twice")))
app$add_get("/stop", function(.req, .res) stop("hidden"))
app$add_get("/unknown", function(.req, .res) .res$set_content_type("x/y"))
app

#> GET /none
#< 404 application/json {"error":"404 Not Found"}
#> GET /teapot
#< 418 application/json {"error":"short and stout"}
#> GET /returned
#< 409 application/json {"error":"twice"}
#> GET /stop
#< 500 application/json {"error":"500 Internal Server Error"}
#> GET /unknown
#< 500 application/json {"error":"500 Internal Server Error: can't encode body with content_type = 'x/y'"}
