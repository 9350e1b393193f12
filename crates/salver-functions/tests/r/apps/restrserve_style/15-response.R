library(RestRserve)
app <- Application$new()
app$logger$set_log_level("off")
app$add_get("/headers", function(.req, .res) {
  .res$set_header("X-A", "1")$append_header("X-A", "2")$set_header("X-B", 3)
  gone <- .res$delete_header("X-B")
  .res$set_body(c(.res$has_header("X-A"), .res$has_header("X-B"), gone, .res$get_header("X-A"), .res$get_header("X-C", "c")))
})
app$add_get("/date", function(.req, .res) {
  .res$set_date(as.POSIXct("2020-01-02 03:04:05", tz = "GMT"))
  date <- .res$get_header("Date")
  .res$unset_date()
  .res$set_body(paste(date, is.null(.res$get_header("Date"))))
})
app$add_get("/cookies", function(.req, .res) {
  .res$set_cookie("a", "1", path = "/")
  .res$set_cookie("b", "2")
  .res$unset_cookie("a")
  .res$set_body(names(.res$cookies))
})
app$add_get("/whole", function(.req, .res) {
  .res$set_response(203L, list(a = 1), content_type = "application/json", headers = list("X-Own" = "yes"))
})
app$add_get("/encoded", function(.req, .res) .res$set_response(200L, 1:3, "x/y", encode = function(x) paste(rev(x), collapse = "<")))
app$add_get("/status", function(.req, .res) {
  .res$set_status_code(404L)
  .res$set_body(.res$status)
})
app$add_get("/reset", function(.req, .res) {
  .res$set_status_code(500L)$set_header("X-A", "1")$set_body("lost")$set_content_type("a/b")
  .res$reset()
  .res$set_body(paste(.res$status, .res$content_type, .res$has_header("X-A")))
})
app$add_get("/context", function(.req, .res) {
  .res$context$a <- 1
  .req$context$a <- 2
  .res$set_body(paste(.res$context$a, .req$context$a))
})
app$add_get("/made", function(.req, .res) {
  made <- Response$new(body = "made", content_type = "text/plain", headers = list("X-Own" = "1"), status_code = 201L)
  .res$set_response(made$status_code, made$body, made$content_type, made$headers)
})
app$add_get("/picture", function(.req, .res) {
  path <- tempfile(fileext = ".png")
  grDevices::png(path, width = 100, height = 100)
  graphics::par(mar = c(0, 0, 0, 0))
  graphics::plot.new()
  grDevices::dev.off()
  .res$set_content_type("image/png")
  .res$set_body(readBin(path, "raw", 8L)[2:4])
})
app

#> GET /headers
#< 200 text/plain TRUE\nFALSE\nTRUE\n1\n2\nc
#> GET /date
#< 200 text/plain Thu, 02 Jan 2020 03:04:05 GMT TRUE
#> GET /cookies
#< 200 text/plain b
#> GET /whole
#< 203 application/json {"a":1}
#> GET /encoded
#< 200 x/y 3<2<1
#> GET /status
#< 404 text/plain 404 Not Found
#> GET /reset
#< 200 text/plain 200 OK text/plain FALSE
#> GET /context
#< 200 text/plain 1 2
#> GET /made
#< 201 text/plain made
#> GET /picture
#< 200 image/png PNG
