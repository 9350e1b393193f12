library(Rserve)

.http.request <- function(url, query, body, headers) {
  method <- sub("^Request-Method: ([A-Z]+).*$", "\\1", rawToChar(headers))
  switch(
    url,
    "/page" = "<b>page</b>",
    "/list" = list("text", "text/plain", c("X-A: 1", "X-B: 2"), 201L),
    "/echo" = list(paste(method, query[["a"]], if (is.raw(body)) rawToChar(body) else body[["b"]]), "text/plain"),
    "/type" = list(as.character(attr(body, "content-type")), "text/plain"),
    "/none" = list(as.character(is.null(query) && is.null(body)), "text/plain"),
    "/bytes" = list(as.raw(0:2), "application/octet-stream"),
    "/file" = list(file = normalizePath("static/hello.txt"), "text/plain"),
    "/stop" = stop("no"),
    list("Not here", "text/plain", character(), 404L)
  )
}

run.Rserve(http.port = 8080)
stop("what stands behind the start is not evaluated")
