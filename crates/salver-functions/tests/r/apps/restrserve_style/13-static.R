library(RestRserve)
app <- Application$new()
app$add_static("/file", "../static/hello.txt", content_type = "text/x-own")
app$add_static("/dir", "../static")
app$add_get("/temporary", function(.req, .res) {
  path <- tempfile(fileext = ".txt")
  writeLines("gone afterwards", path)
  .res$set_content_type("text/plain")
  .res$set_body(c(tmpfile = path))
})
app

#> GET /dir/none.txt
#< 404 text/plain 404 Not Found
#> GET /dir/../restrserve_style/13-static.R
#< 404 text/plain 404 Not Found
#> GET /dir/%2e%2e/restrserve_style/13-static.R
#< 404 text/plain 404 Not Found
