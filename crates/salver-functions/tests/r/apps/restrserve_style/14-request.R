library(RestRserve)
app <- Application$new(content_type = "application/json")
app$logger$set_log_level("off")
app$add_get("/accept", function(.req, .res) {
  .res$set_body(list(accept = .req$accept, json = .req$accept_json, xml = .req$accept_xml))
})
app$add_get("/date", function(.req, .res) .res$set_body(format(.req$date, "%Y-%m-%d %H:%M:%S")))
app$add_get("/id", function(.req, .res) {
  first <- .req$id
  same <- identical(first, .req$request_id)
  .req$set_id("chosen")
  .res$set_body(list(nchar(first), same, .req$id))
})
app$add_get("/header", function(.req, .res) {
  .res$set_body(list(.req$get_header("X-Own"), .req$get_header("x-none", default = "none"), .req$headers[["x-own"]]))
})
app$add_get("/query", function(.req, .res) {
  .res$set_body(list(.req$get_param_query("a"), .req$get_param_query("none"), names(.req$parameters_query)))
})
app$add_get("/path/{a}/{b}", match = "regex", FUN = function(.req, .res) {
  .res$set_body(c(.req$parameters_path, list(b2 = .req$get_param_path("b"), method = .req$method, path = .req$path)))
})
app$add_post("/files", function(.req, .res) {
  file <- .req$get_file("f")
  .res$set_body(list(
    names(.req$files), length(file), attr(file, "filname"), attr(file, "content-type"), is.null(.req$get_file("none")),
    .req$parameters_body
  ))
})
# A decoder of the request's own, which a middleware before the one that decodes gives it.
before <- Middleware$new(process_request = function(.req, .res) {
  if (.req$path == "/decoded") .req$decode <- function(x) rev(x)
  TRUE
}, process_response = function(.req, .res) TRUE)
decoding <- Application$new(middleware = list(before, EncodeDecodeMiddleware$new()))
decoding$add_post("/decoded", function(.req, .res) .res$set_body(rawToChar(.req$body)))
app$add_post("/decoded", function(.req, .res) {
  inner <- Request$new(path = "/decoded", method = "POST", body = .req$body, content_type = "a/b")
  .res$set_body(decoding$process_request(inner)$body)
})
# Its body stays as it came.
ContentHandlers$set_decode("application/octet-stream", identity)
app

#> GET /accept | accept: application/json
#< 200 application/json {"accept":"application/json","json":true,"xml":false}
#> GET /accept | accept: text/xml, text/plain
#< 200 application/json {"accept":["text/xml","text/plain"],"json":false,"xml":true}
#> GET /accept
#< 200 application/json {"accept":"*/*","json":false,"xml":false}
#> GET /date | date: Sun, 04 Aug 2019 07:17:39 GMT
#< 200 application/json "2019-08-04 07:17:39"
#> GET /id
#< 200 application/json [36,true,"chosen"]
#> GET /header | x-own: a, b
#< 200 application/json ["a, b","none","a, b"]
#> GET /query?a=1&a=2&b=%2B+
#< 200 application/json ["1",null,["a","a","b"]]
#> GET /path/x%20y/2
#< 200 application/json {"a":"x y","b":"2","b2":"2","method":"GET","path":"/path/x y/2"}
#> POST /files | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n--XX\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\nContent-Type: a/b\r\n\r\nabcd\r\n--XX--\r\n
#< 200 application/json ["f",4,"a.bin","a/b",true,{"n":"1","f":"a.bin"}]
#> POST /decoded | content-type: application/octet-stream | abc
#< 200 application/json "cba"
