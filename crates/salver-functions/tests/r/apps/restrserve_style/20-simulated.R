# An application that is asked without a server, as its tests would, by another one.
library(RestRserve)
tested <- Application$new()
tested$logger$set_log_level("off")
tested$add_get("/say/{user}", function(rq, rs) {
  message <- rq$parameters_query[["message"]]
  rs$set_body(paste(rq$parameters_path[["user"]], "says", if (is.null(message)) "Hello" else message))
}, "regex")
app <- Application$new()
app$logger$set_log_level("off")
backend <- BackendRserve$new()
app$add_get("/simulated", function(.req, .res) {
  asked <- list(Request$new(path = "/no"), Request$new(path = "/say/ada"), Request$new(
    path = "/say/alan", method = "GET", parameters_query = list(message = "Hola"), headers = list(Accept = "a/b"),
    cookies = list(a = "1"), parameters_body = list(), content_type = "text/plain"
  ))
  .res$set_body(vapply(asked, function(rq) {
    rs <- tested$process_request(rq)
    paste(rs$status_code, rs$body)
  }, ""))
})
app$add_get("/backend", function(.req, .res) {
  rq <- Request$new()
  backend$set_request(rq, "/say/grace", c(message = "Hi"), charToRaw("Request-Method: GET\r\nHost: x"), NULL)
  converted <- backend$convert_response(tested$process_request(rq))
  rq$reset()
  .res$set_body(c(converted[[1L]], converted[[2L]], converted[[4L]], rq$path, rq$method))
})
app$add_get("/dates", function(.req, .res) {
  text <- RestRserve:::to_http_date(as.POSIXct(0, origin = "1970-01-01", tz = "GMT"))
  .res$set_body(c(text, as.numeric(RestRserve:::from_http_date(text))))
})
app$add_get("/router", function(.req, .res) {
  router <- RestRserve:::Router$new()
  router$add_path("/a", "exact", "1")
  router$add_path("/b/", "partial", "2")
  .res$set_body(c(router$size(), router$match_path("/a"), router$match_path("/b/c"), names(router$paths)))
})
# The placeholders that the package exports.
app$add_get("/placeholders", function(request, response) {
  response$set_body(c(class(RestRserve::.req)[1L], class(RestRserve::.res)[1L], RestRserve::.req$path))
})
app$add_get("/nothing", function(.req, .res) .res$set_body(tested$process_request()$status_code))
app

#> GET /simulated
#< 200 text/plain 404 404 Not Found\n200 ada says Hello\n200 alan says Hola
#> GET /backend
#< 200 text/plain grace says Hi\ntext/plain\n200\n/\nGET
#> GET /dates
#< 200 text/plain Thu, 01 Jan 1970 00:00:00 GMT\n0
#> GET /router
#< 200 text/plain 2\n1\n2\nexact\npartial
#> GET /placeholders
#< 200 text/plain Request\nResponse\n/
#> GET /nothing
#< 200 text/plain 404
