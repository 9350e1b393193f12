# A file of plumber, driven through the real package. What is expected is what plumber 1.2.1 answers over HTTP.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
if (!requireNamespace("plumber", quietly = TRUE)) {
  cat("plumber is not installed: nothing to test\n")
  quit()
}
salver <- start_host()
offer <- jsonlite::parse_json(salver$load(test_file("apps/plumber.R")))
check("words", offer[1:3], list(application = TRUE, title = "Shop", description = "What a shop has."))
routes <- vapply(offer$endpoints, function(e) paste(e$method, e$path), "")
check("routes", setdiff(c(
  "GET /echo", "GET /unboxed", "POST /sum", "GET /users/<id:int>/<name>", "GET /text", "GET /open", "PUT /body"
), routes), character())
check("parameter", offer$endpoints[[match("GET /echo", routes)]][c("parameters", "summary")], list(
  parameters = list(list(
    name = "msg", kind = "text", list = FALSE, required = TRUE, description = "The message to echo"
  )),
  summary = "Echo the input"
))

json <- c("Content-Type" = "application/json")
get <- function(path, status, body, headers = json, kind = 0L, given = character(), method = "GET", bytes = raw()) {
  check(paste(method, path), ask(salver, path, method, c(host = "127.0.0.1:8080", given), bytes),
    list(status = status, headers = headers, body = body, kind = kind))
}
post <- function(path, type, bytes, ..., method = "POST") {
  get(path, ..., method = method, given = c("content-type" = type), bytes = bytes)
}
get("/echo?msg=a%20b+c", 200L, "{\"msg\":[\"The message is: 'a b c'\"]}")
get("/echo", 200L, "{\"msg\":[\"The message is: ''\"]}")
get("/unboxed", 200L, "{\"a\":1,\"b\":\"x\"}")
post("/sum", "application/x-www-form-urlencoded", "a=1&b=2", 200L, "[3]")
post("/sum", "application/json", "{\"a\":1,\"b\":4}", 200L, "[5]")
get("/users/3/bo%20b", 200L, "{\"id\":[4],\"name\":[\"bo%20b\"]}")
get("/text", 200L, "plain text", c("Content-Type" = "text/plain; charset=UTF-8"))
get("/html", 200L, "<html><h1>hello</h1></html>", c("Content-Type" = "text/html; charset=UTF-8"))
get("/frame", 200L, "[{\"a\":1,\"b\":\"x\"},{\"a\":2,\"b\":\"y\"}]")
get("/teapot", 418L, "{\"tea\":[true]}", c("X-Tea" = "green", "Set-Cookie" = "cup=full", json))
get("/cookies", 200L, "[\"1\"]", given = c(cookie = "a=1; b=2"))
get("/echo", 401L, "{\"error\":[\"not you\"]}", given = c("x-key" = "wrong"))
get("/open", 200L, "[\"open\"]", given = c("x-key" = "wrong"))
get("/promise", 200L, "[42]")
cat("Two errors are logged now:\n")
get("/broken-promise", 500L, "{\"error\":\"500 - Internal server error\"}")
get("/stop", 500L, "{\"error\":\"500 - Internal server error\"}")
get("/none", 404L, "{\"error\":\"404 - Resource Not Found\"}")
get("/users/x/y", 404L, "{\"error\":\"404 - Resource Not Found\"}")
get("/text", 405L, "{\"error\":\"405 - Method Not Allowed\"}", c(Allow = "", json), method = "POST")
post("/body", "text/plain", "hi there", 200L, "hi there", c("Content-Type" = "text/plain; charset=UTF-8"),
  method = "PUT")
multipart <- paste(
  "--XX", "Content-Disposition: form-data; name=\"f\"; filename=\"hello.txt\"", "Content-Type: text/plain", "",
  "Hello", "--XX--", "", sep = "\r\n"
)
post("/upload", "multipart/form-data; boundary=XX", multipart, 200L, "[\"hello.txt\"]")
static <- ask(salver, "/static/hello.txt")
check("static", list(static$status, static$body, names(static$headers)),
  list(200L, "Hello, World!\n", c("Content-Type", "Last-Modified")))
png <- ask(salver, "/png")
check("png", list(png$status, png$headers, png$body[2:4]),
  list(200L, c("Content-Type" = "image/png"), charToRaw("PNG")))
check("openapi", jsonlite::parse_json(ask(salver, "/openapi.json")$body)$info$title, "Shop")
finish()
