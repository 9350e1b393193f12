#* @get /unchanged
function(res) {
  res$body <- "as it is"
  res
}

#* @get /status
function(res) {
  res$status <- 202
  res$setHeader("X-One", "1")
  res$setHeader("X-Two", "a, b")
  res$body <- "more"
  res
}

#* @get /cookies
function(req, res) {
  res$setCookie("a", "b c", path = "/", http = TRUE)
  res$setCookie("d", "e", same_site = "Strict")
  res$removeCookie("old")
  req$cookies
}

#* @get /redirect
function(res) {
  res$status <- 302
  res$setHeader("Location", "/unchanged")
  NULL
}

#* @get /bytes
function(res) {
  res$setHeader("Content-Type", "application/octet-stream")
  res$body <- as.raw(c(1, 2, 255))
  res
}

#> GET /unchanged
#> GET /status
#> GET /cookies | cookie: x=1; y=2
#> GET /redirect
#> GET /bytes
