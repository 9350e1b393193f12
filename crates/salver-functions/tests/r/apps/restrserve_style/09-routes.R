library(RestRserve)
app <- Application$new()
say <- function(text) function(.req, .res) .res$set_body(text)
app$add_get("/a", say("exact"))
app$add_get("/a/", say("partial"), match = "partial")
app$add_get("/u/{id}/posts/{post}", function(.req, .res) {
  .res$set_body(paste(.req$get_param_path("id"), .req$parameters_path$post))
}, match = "regex")
app$add_get("/only", say("no head"), add_head = FALSE)
app$add_route("/only", "POST", say("posted"))
BackendRserve$new()$start(app, http_port = -1, "http.raw.body" = TRUE)

#> GET /a
#< 200 text/plain exact
#> GET /a/b/c
#< 200 text/plain partial
#> GET /u/1/posts/2
#< 200 text/plain 1 2
#> GET /u/1/posts
#< 404 text/plain 404 Not Found
#> GET /ab
#< 404 text/plain 404 Not Found
#> HEAD /a
#< 200 text/plain exact
#> HEAD /only
#< 404 text/plain 404 Not Found
#> POST /only
#< 200 text/plain posted
#> PUT /only
#< 405 text/plain 405 Method Not Allowed
