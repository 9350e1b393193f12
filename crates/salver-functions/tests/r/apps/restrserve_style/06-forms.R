library(RestRserve)
app <- Application$new()
app$add_post("/form", function(.req, .res) {
  .res$set_body(paste(names(.req$parameters_body), unlist(.req$parameters_body), sep = "=", collapse = ";"))
})
app$add_post("/upload", function(.req, .res) {
  file <- .req$get_file("f")
  .res$set_body(paste(attr(file, "filname"), attr(file, "content-type"), rawToChar(file), .req$get_param_body("note")))
})
app$add_get("/cookies", function(.req, .res) {
  .res$set_body(paste(names(.req$cookies), unlist(.req$cookies), sep = "=", collapse = ";"))
})
BackendRserve$new()$start(app, 8080)

#> POST /form | content-type: application/x-www-form-urlencoded | a=1&b=x+y&c=
#< 200 text/plain a=1;b=x y
#> POST /form
#< 200 text/plain 
#> POST /upload | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="note"\r\n\r\nhi\r\n--XX\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--XX--\r\n
#< 200 text/plain a.txt text/plain abc hi
#> GET /cookies | cookie: a=1; b=%20
#< 200 text/plain a=1;b= 
