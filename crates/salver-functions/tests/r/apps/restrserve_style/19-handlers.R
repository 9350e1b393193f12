library(RestRserve)
app <- Application$new(content_type = "application/json")
app$logger$set_log_level("off")
handlers <- RestRserve:::ContentHandlersFactory$new()
handlers$set_encode("x/upper", toupper)
handlers$set_decode("x/upper", tolower)
app$add_get("/list", function(.req, .res) .res$set_body(names(handlers$list())))
app$add_get("/used", function(.req, .res) {
  .res$set_body(list(
    handlers$get_encode("x/upper; charset=utf-8")("a"), handlers$get_decode("x/upper")("A"),
    handlers$get_decode("application/json")("[1,\"a\"]"), handlers$get_encode("text/plain")(list(1, "b"))
  ))
})
app$add_get("/reset", function(.req, .res) {
  handlers$reset()
  .res$set_body("x/upper" %in% names(handlers$list()))
})
app$add_get("/json", function(.req, .res) {
  .res$set_body(list(to_json(list(1, "a")), to_json(1:2, unbox = FALSE), to_json("a", unbox = FALSE), to_json(NULL)))
})
app$add_get("/values", function(.req, .res) {
  .res$set_body(list(na = NA, pi = pi, none = NULL, frame = data.frame(a = 1:2, b = c("x", NA)), l = list(), n = 1e10))
})
# Handlers of one middleware alone.
middleware <- EncodeDecodeMiddleware$new()
middleware$ContentHandlers <- RestRserve:::ContentHandlersFactory$new()
middleware$ContentHandlers$set_encode("x/lines", function(x) paste0(x, ";", collapse = ""))
own <- Application$new(content_type = "x/lines", middleware = list(middleware))
own$add_get("/", function(.req, .res) .res$set_body(c("a", "b")))
app$add_get("/own", function(.req, .res) .res$set_body(own$process_request(Request$new(path = "/"))$body))
app

#> GET /list
#< 200 application/json ["application/javascript","application/json","image/png","text/css","text/html","text/plain","x/upper"]
#> GET /used
#< 200 application/json ["A","a",["1","a"],"1\nb"]
#> GET /reset
#< 200 application/json false
#> GET /json
#< 200 application/json ["[1,\"a\"]","[1,2]","[\"a\"]","null"]
#> GET /values
#< 200 application/json {"na":null,"pi":3.1416,"none":null,"frame":{"a":[1,2],"b":["x",null]},"l":[],"n":10000000000}
#> GET /own
#< 200 application/json "a;b;"
