# RestRserve's behaviour over a whole application.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
offer <- jsonlite::parse_json(salver$load(test_file("apps/restrserve.R")))
check("application", offer$application, TRUE)
routes <- vapply(offer$endpoints, function(e) paste(e$method, e$path, e$prefix), "")
wanted <- c("GET /users/{id}/posts/{post} FALSE", "GET /tree/ TRUE", "POST /json FALSE")
check("routes", setdiff(wanted, routes), character())

plain <- c("Content-Type" = "text/plain")
json <- c("Content-Type" = "application/json")
answer <- function(status, body, headers = plain, kind = 0L) {
  list(status = status, headers = headers, body = body, kind = kind)
}
check("text", ask(salver, "/hello"), answer(200L, "Hello, World!"))
check("text of a list", ask(salver, "/text"), answer(200L, "1\nb\nTRUE"))
check("json", ask(salver, "/json"), answer(
  200L, "{\"answer\":\"json\",\"list\":[\"object\"],\"n\":1.5,\"yes\":true,\"none\":null,\"v\":[1,2,3]}", json
))
check("a type nobody encodes", ask(salver, "/unknown-type"),
  answer(500L, "500 Internal Server Error: can't encode body with content_type = 'application/x-unknown'"))
bytes <- function(path) unserialize(ask(salver, path)$body)
check("encode of the response", bytes("/rds"), "rds")
check("encode of the content type", bytes("/rds2"), "rds2")

post <- function(path, body, type) ask(salver, path, "POST", c(host = "x", "content-type" = type), body)
check("json in", post("/json", "{\"hello\":\"world\",\"a\":[1,2]}", "application/json")$body,
  "{\"hello\":\"world\",\"a\":[1,2]}")
check("json in, with a charset", post("/json", "{\"a\":1}", "application/json; charset=utf-8")$body, "{\"a\":1}")
check("json that is none", post("/json", "{\"bad\" : json}", "application/json"), answer(400L, paste0(
  "lexical error: invalid char in json text.\n",
  "                              {\"bad\" : json}\n",
  "                     (right here) ------^\n"
)))
check("text in", post("/echo", "some text", "text/plain"), answer(200L, "some text"))
check("a type nobody decodes", post("/echo", "x", "application/x-unknown"), answer(415L, "415 Unsupported Media Type"))
check("no body", ask(salver, "/form", "POST"), answer(200L, ""))
form <- "param1=value1&=no&param3=&param4=value4%20and+others"
check("form", post("/form", form, "application/x-www-form-urlencoded")$body, "param1=value1;param4=value4 and others")
multipart <- paste(
  "--XX", "Content-Disposition: form-data; name=\"note\"", "", "hi",
  "--XX", "Content-Disposition: form-data; name=\"f\"; filename=\"a.txt\"", "Content-Type: plain/text", "",
  "line 1\r\nline 2", "--XX--", "", sep = "\r\n"
)
check("multipart", post("/upload", multipart, "multipart/form-data; boundary=XX")$body,
  "a.txt|plain/text|line 1\r\nline 2|hi")

check("status, headers, cookies", ask(salver, "/created"), answer(201L, "made", c(
  plain, Location = "/created/1", "X-Many" = "a, b", "Set-Cookie" = "id=1; Path=/; HttpOnly",
  "Set-Cookie" = "theme=dark; Max-Age=60; Secure"
)))
check("nothing is left of the call before", ask(salver, "/hello"), answer(200L, "Hello, World!"))
check("request fields", ask(salver, "/headers", headers = c(
  host = "x", accept = "text/plain, text/html", accept = "a/b", cookie = "a=1; b=%202"
))$body, "text/plain+text/html+a/b|default|1| 2|GET|/headers")
check("template", ask(salver, "/users/u%201/posts/7")$body, "u 1 7")
check("template, slash behind", ask(salver, "/users/u/posts/7/")$body, "u 7")
check("template, more behind", ask(salver, "/users/u/posts/7/8"), answer(404L, "404 Not Found"))
check("exact first", ask(salver, "/tree/exact")$body, "exact")
check("template before prefix", ask(salver, "/tree/oak")$body, "leaf oak")
check("prefix", ask(salver, "/tree/oak/branch")$body, "tree /tree/oak/branch")
check("prefix itself", ask(salver, "/tree/")$body, "tree /tree/")
check("prefix without slash", ask(salver, "/tree")$status, 404L)
check("own error", ask(salver, "/teapot"), answer(418L, "I'm a teapot"))
check("error with headers", ask(salver, "/gone"), answer(410L, "410 Gone", c(plain, "X-Why" = "moved")))
check("stop()", ask(salver, "/stop"), answer(500L, "500 Internal Server Error"))
check("NA", ask(salver, "/warning")$body, "NA")
for (path in c("/deep", "/bytes", "/condition")) {
  check(path, ask(salver, path), answer(500L, "500 Internal Server Error"))
}
check("conditions in a handler", suppressMessages(ask(salver, "/signals?x=%C3%A9%zz%&y=%ff")),
  answer(202L, "inner:\u00e9%zz%"))
salver$state$application$object$logger$set_log_level("error")
logged <- jsonlite::parse_json(utils::capture.output(invisible(ask(salver, "/stop"))))
check("errors are logged", logged[c("level", "name", "msg", "context")], list(
  level = "ERROR", name = "Application", msg = "unexpected", context = list(call = "handler(request, response)")
))
salver$state$application$object$logger$set_log_level("off")
for (i in 1:2) check("context is of a call", ask(salver, "/context")$body, "TRUE")
id <- ask(salver, "/id")$body
check("id", c(nchar(id), id == ask(salver, "/id")$body), c(36L, 0L))
check("method without routes", ask(salver, "/hello", "DELETE"), answer(405L, "405 Method Not Allowed"))
check("path of another method", ask(salver, "/form"), answer(404L, "404 Not Found"))

hello <- normalizePath(test_file("apps/static/hello.txt"))
check("static file", ask(salver, "/file"), answer(200L, hello, kind = 1L))
check("static directory", ask(salver, "/dir/hello.txt"), answer(200L, hello, kind = 1L))
check("static, type by name", ask(salver, "/dir/page.html")$headers, c("Content-Type" = "text/html"))
check("static, none", ask(salver, "/dir/none.txt"), answer(404L, "404 Not Found"))
check("static, a directory", ask(salver, "/dir/"), answer(404L, "404 Not Found"))
for (path in c("/dir/../fib.R", "/dir/%2e%2e/fib.R", "/dir/..%2ffib.R", "/dir//etc/passwd")) {
  check(paste("static, out of it", path), ask(salver, path), answer(404L, "404 Not Found"))
}
spec <- ask(salver, "/openapi.yaml")
check("openapi", list(readLines(spec$body, 1L), unname(spec$headers)), list("openapi: 3.0.1", "application/x-yaml"))
page <- ask(salver, "/swagger")
check("swagger", any(grepl("\"/openapi.yaml\"", readLines(page$body), fixed = TRUE)), TRUE)

# What the real package would be driven with gives the same answers: it goes the way on which every middleware may
# stand, as tests of users do; calls of an application like this one go a shorter way.
native <- function(method, path, query, headers, body, address) {
  salver$own_application()(method, path, salver$parse_query(query), headers, body)
}
foreign <- salver$foreign_worker(salver$state$application$object, BackendRserve$new(), Request$new())
fields <- c(host = "x", accept = "a/b, c/d", cookie = "a=1; b=2", "content-type" = "text/plain")
paths <- c(
  "/hello", "/text", "/json", "/unknown-type", "/rds", "/rds2", "/created", "/headers", "/gone", "/teapot", "/stop",
  "/none", "/file", "/dir/hello.txt", "/dir/none", "/users/1/posts/2", "/tree/oak", "/tree/oak/branch", "/context"
)
for (path in paths) {
  check(paste("foreign", path), foreign("GET", path, "n=1&m=%20", fields, raw(), ""),
    native("GET", path, "n=1&m=%20", fields, raw(), ""))
}
check("foreign DELETE", foreign("DELETE", "/hello", "", fields, raw(), ""),
  native("DELETE", "/hello", "", fields, raw(), ""))
fields[["content-type"]] <- "application/json"
check("foreign POST, 400", foreign("POST", "/json", "", fields, charToRaw("{"), ""),
  native("POST", "/json", "", fields, charToRaw("{"), ""))
fields[["content-type"]] <- "text/plain"
check("foreign POST", foreign("POST", "/echo", "", fields, charToRaw("text"), ""),
  native("POST", "/echo", "", fields, charToRaw("text"), ""))
finish()
