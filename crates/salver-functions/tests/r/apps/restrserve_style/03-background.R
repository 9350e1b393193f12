library(RestRserve)
application <- Application$new()
process <- BackendRserve$new()$start(application, http_port = 8001, background = TRUE)
application$add_get("/late", function(.req, .res) .res$set_body("added after the start"))
process$kill()

#> GET /late
#< 200 text/plain added after the start
