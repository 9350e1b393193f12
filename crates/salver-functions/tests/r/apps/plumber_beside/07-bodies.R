#* @post /echo
function(req) req$body

#* @post /raw
function(req) length(req$bodyRaw)

#* @post /args
function(req) names(req$argsBody)

#* @post /text
#* @parser text
function(req) req$postBody

#* @post /none
#* @parser none
function(req) is.null(req$body)

#* @post /csv
#* @parser csv
function(req) nrow(req$body)

#* @post /upload
#* @parser multi
#* @parser octet
function(f) lapply(f, length)

#* @post /dots
function(...) names(list(...))

#> POST /echo | content-type: application/json | {"a":[1,2],"b":{"c":"d"}}
#> POST /echo | content-type: application/json | [{"a":1},{"a":2}]
#> POST /echo | content-type: application/json | {broken
#> POST /echo | content-type: text/plain | some text
#> POST /echo | content-type: application/x-unknown | bytes
#> POST /echo
#> POST /raw | content-type: application/octet-stream | 12345
#> POST /args | content-type: application/json | {"a":1,"b":2}
#> POST /text | content-type: text/plain | hi
#> POST /text | content-type: application/json | {"a":1}
#> POST /none | content-type: text/plain | hi
#> POST /upload | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\nabc\r\n--XX--\r\n
#> POST /dots?x=1 | content-type: application/json | {"y":2}
