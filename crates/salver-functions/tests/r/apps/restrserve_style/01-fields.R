library(RestRserve)
app <- Application$new(content_type = "application/json")
app$logger$set_log_level("off")
app$add_get("/query", function(request, response) response$set_body(request$parameters_query))
app$add_get("/null", function(.req, .res) .res$set_body(NULL))
app$add_get("/nothing", function(.req, .res) NULL)
app$add_post("/body", function(.req, .res) .res$set_body(list(class = class(.req$body), body = .req$body)))
app$add_post("/type", function(.req, .res) .res$set_body(.req$content_type))
app$add_route("/item", "PUT", function(.req, .res) .res$set_status_code(201L)$set_body(list(put = TRUE)))
app$add_route("/item", "DELETE", function(.req, .res) .res$set_status_code(204L)$set_content_type("text/plain"))
app$add_route("/item", "PATCH", function(.req, .res) .res$set_body(.req$method))
backend <- BackendRserve$new()
backend$start(app, http_port = 8080)

#> GET /query
#< 200 application/json {}
#> GET /query?a=1&b=%20x&c=&=d
#< 200 application/json {"a":"1","b":" x"}
#> GET /null
#< 200 application/json null
#> GET /nothing
#< 200 application/json null
#> POST /body | content-type: application/json | [{"a":1},{"a":2}]
#< 200 application/json {"class":"list","body":[{"a":1},{"a":2}]}
#> POST /body | content-type: application/json; charset=utf-8 | [[1,2],[3,4]]
#< 200 application/json {"class":"list","body":[[1,2],[3,4]]}
#> POST /body | content-type: application/json | [1,2]
#< 200 application/json {"class":"integer","body":[1,2]}
#> POST /body | content-type: text/plain | some text
#< 200 application/json {"class":"character","body":"some text"}
#> POST /body | some text
#< 200 application/json {"class":"character","body":"some text"}
#> POST /body | content-type: application/x-own | x
#< 415 text/plain 415 Unsupported Media Type
#> POST /type | x
#< 200 application/json "text/plain"
#> PUT /item
#< 201 application/json {"put":true}
#> DELETE /item
#< 204 text/plain 
#> PATCH /item
#< 200 application/json "PATCH"
#> OPTIONS /item
#< 405 text/plain 405 Method Not Allowed
