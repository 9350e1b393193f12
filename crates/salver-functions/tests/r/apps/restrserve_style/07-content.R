library(RestRserve)
encode_decode <- EncodeDecodeMiddleware$new()
encode_decode$ContentHandlers$set_encode("text/csv", function(x) paste(utils::capture.output(write.csv(x, row.names = FALSE)), collapse = "\n"))
encode_decode$ContentHandlers$set_decode("text/csv", function(x) read.csv(text = rawToChar(x)))
app <- Application$new(middleware = list(encode_decode))
app$add_get("/csv", function(.req, .res) .res$set_content_type("text/csv")$set_body(data.frame(a = 1:2)))
app$add_post("/csv", function(.req, .res) .res$set_body(sum(.req$body$a)))
app$add_get("/own", function(.req, .res) {
  .res$encode <- function(x) charToRaw(paste0("<", x, ">"))
  .res$set_content_type("x/own")$set_body("own")
})
app$add_get("/json", function(.req, .res) .res$set_content_type("application/json")$set_body(data.frame(a = 1:2)))
app$add_get("/vector", function(.req, .res) .res$set_body(1:3))
app

#> GET /csv
#< 200 text/csv "a"\n1\n2
#> POST /csv | content-type: text/csv | a\r\n1\r\n2
#< 200 text/plain 3
#> GET /own
#< 200 x/own <own>
#> GET /json
#< 200 application/json {"a":[1,2]}
#> GET /vector
#< 200 text/plain 1\n2\n3
