# Everything RestRserve's applications are made of.
library(RestRserve)

app <- Application$new(content_type = "text/plain")
app$logger$set_log_level("off")

app$add_get("/hello", function(request, response) response$body <- "Hello, World!")
app$add_get("/text", function(.req, .res) .res$set_body(list(1, "b", TRUE)))
app$add_get("/json", function(request, response) {
  response$set_content_type("application/json")
  response$set_body(list(answer = "json", list = list("object"), n = 1.5, yes = TRUE, none = NULL, v = 1:3))
})
app$add_get("/unknown-type", function(request, response) {
  response$content_type <- "application/x-unknown"
  response$body <- list(a = 1)
})
app$add_get("/rds", function(request, response) {
  response$content_type <- "application/rds"
  response$body <- serialize("rds", NULL)
  response$encode <- identity
})
app$add_get("/rds2", function(request, response) {
  response$content_type <- "application/rds2"
  response$body <- serialize("rds2", NULL)
})
ContentHandlers$set_encode("application/rds2", identity)
app$add_post("/json", function(request, response) {
  response$content_type <- "application/json"
  response$body <- request$body
})
app$add_post("/echo", function(request, response) response$body <- request$body)
app$add_post("/form", function(request, response) {
  response$body <- paste(names(request$parameters_body), unlist(request$parameters_body), sep = "=", collapse = ";")
})
app$add_post("/upload", function(request, response) {
  file <- request$get_file("f")
  response$body <- paste(
    attr(file, "filname"), attr(file, "content-type"), rawToChar(file), request$get_param_body("note"), sep = "|"
  )
})
app$add_get("/created", function(request, response) {
  response$set_status_code(201L)
  response$set_header("Location", "/created/1")
  response$append_header("X-Many", "a")
  response$append_header("X-Many", "b")
  response$set_cookie("id", "1", path = "/", http_only = TRUE)
  response$set_cookie("theme", "dark", max_age = 60L, secure = TRUE)
  response$body <- "made"
})
app$add_get("/headers", function(request, response) {
  response$body <- paste(
    paste(request$get_header("Accept"), collapse = "+"), request$get_header("x-none", "default"),
    request$cookies[["a"]], request$cookies$b, request$method, request$path, sep = "|"
  )
})
app$add_get("/users/{id}/posts/{post:integer}", match = "regex", FUN = function(request, response) {
  response$body <- paste(request$get_param_path("id"), request$parameters_path$post)
})
app$add_get("/tree", match = "partial", FUN = function(request, response) response$body <- paste("tree", request$path))
app$add_get("/tree/{leaf}", match = "regex", FUN = function(request, response) {
  response$body <- paste("leaf", request$get_param_path("leaf"))
})
app$add_get("/tree/exact", function(request, response) response$body <- "exact")
app$add_get("/teapot", function(request, response) raise(HTTPError$error(418L, "I'm a teapot")))
app$add_get("/gone", function(request, response) {
  response$set_header("X-Lost", "yes")
  raise(HTTPError$gone(headers = list("X-Why" = "moved")))
})
app$add_get("/stop", function(request, response) stop("unexpected"))
app$add_get("/warning", function(request, response) {
  response$body <- suppressWarnings(as.character(as.integer("x")))
})
app$add_get("/deep", function(request, response) {
  deeper <- function(n) deeper(n + 1)
  deeper(1)
})
app$add_get("/bytes", function(request, response) stop(rawToChar(as.raw(c(0x61, 0xff)))))
app$add_get("/condition", function(request, response) {
  stop(structure(class = c("mine", "error", "condition"), list(message = "mine", call = NULL)))
})
app$add_get("/signals", function(request, response) {
  message("a message")
  seen <- tryCatch(stop("inner"), error = function(e) conditionMessage(e), finally = NULL)
  response$status_code <- 202
  response$body <- paste(seen, request$get_param_query("x"), sep = ":")
})
app$add_get("/context", function(request, response) {
  seen <- is.null(request$context$seen) && is.null(response$context$seen)
  request$context$seen <- TRUE
  response$context$seen <- TRUE
  response$body <- as.character(seen)
})
app$add_get("/id", function(request, response) response$body <- request$id)
app$add_static("/file", "static/hello.txt", "text/plain")
app$add_static("/dir", "static")
app$add_openapi()
app$add_swagger_ui()

backend <- BackendRserve$new()
backend$start(app, http_port = 8080)
stop("what stands behind the start is not evaluated")
