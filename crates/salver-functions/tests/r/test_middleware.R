# Middleware: its order, errors in it, authentication, CORS, ETags.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
invisible(salver$load(test_file("apps/classes.R")))
# Header fields without the one that nearly all have.
options(RestRserve.headers.server = NULL)
backend <- BackendRserve$new()
quiet <- function(...) {
  app <- Application$new(...)
  app$logger$set_log_level("off")
  app
}
get <- function(app, path, method = "GET", headers = list()) {
  app$process_request(Request$new(path = path, method = method, headers = headers))
}

# Order, and errors
trail <- character()
mark <- function(name) {
  Middleware$new(
    process_request = function(rq, rs) {
      trail <<- c(trail, paste0(">", name))
      if (rq$path == "/temp") rq$path <- "/hello"
      if (rq$path == paste0("/err-req-", name)) stop("in the request")
    },
    process_response = function(rq, rs) {
      trail <<- c(trail, paste0("<", name))
      if (rq$path == paste0("/err-resp-", name)) stop("in the response")
      if (name == "a" && rs$status_code == 500L && rq$path == "/hello-stop") rs$set_body("Custom 500")
    },
    id = name
  )
}
app <- quiet(middleware = list(EncodeDecodeMiddleware$new(), mark("a"), mark("b")))
app$append_middleware(mark("c"))
app$add_get("/hello", function(rq, rs) rs$body <- "Hello, World!")
app$add_get("/hello-stop", function(rq, rs) stop("unexpected"))
for (name in c("a", "b", "c")) app$add_get(paste0("/err-resp-", name), function(rq, rs) rs$body <- "x")
run <- function(path) {
  trail <<- character()
  answer <- backend$convert_response(get(app, path))
  list(answer[[4L]], answer[[1L]], paste(trail, collapse = ""))
}
check("order", run("/hello"), list(200L, "Hello, World!", ">a>b>c<c<b<a"))
check("a middleware leads elsewhere", run("/temp"), list(200L, "Hello, World!", ">a>b>c<c<b<a"))
check("handler fails", run("/hello-stop"), list(500L, "Custom 500", ">a>b>c<c<b<a"))
check("request fails in b", run("/err-req-b"), list(500L, "500 Internal Server Error", ">a>b<b<a"))
check("response fails in c", run("/err-resp-c"), list(500L, "500 Internal Server Error", ">a>b>c<c<b<a"))
check("response fails in a", run("/err-resp-a"), list(500L, "500 Internal Server Error", ">a>b>c<c<b<a"))
check("no route", run("/none"), list(404L, "404 Not Found", ">a>b>c<c<b<a"))

# Authentication
passwords <- list("user-1" = "password-1")
basic <- AuthBackendBasic$new(FUN = function(user, password) identical(passwords[[user]], password))
app <- quiet(middleware = list(
  EncodeDecodeMiddleware$new(),
  AuthMiddleware$new(basic, routes = c("/secure", "/securearea/"), match = c("exact", "partial"))
))
app$add_get("/hello", function(rq, rs) rs$body <- "Hello, World!")
app$add_get("/secure", function(rq, rs) rs$body <- "Hello, user-1!")
app$add_get("/securearea/{r}", function(rq, rs) rs$body <- rq$parameters_path$r, match = "regex")
reply <- function(path, ...) {
  rs <- get(app, path, headers = list(...))
  list(rs$status_code, rs$body, rs$headers)
}
login <- function(text) paste("Basic", salver$base64_encode(text))
challenge <- list("WWW-Authenticate" = "Basic")
check("open", reply("/hello"), list(200L, "Hello, World!", list()))
check("none", reply("/secure"), list(401L, "401 Missing Authorization Header", challenge))
check("right", reply("/secure", Authorization = login("user-1:password-1")), list(200L, "Hello, user-1!", list()))
check("wrong", reply("/secure", Authorization = login("user-1:password-2")),
  list(401L, "401 Invalid Username/Password", challenge))
check("not base64", reply("/secure", Authorization = "Basic ***")[[1L]], 401L)
check("prefix", reply("/securearea/a/b"), list(401L, "401 Missing Authorization Header", challenge))
check("prefix, right", reply("/securearea/res1", Authorization = login("user-1:password-1"))[[2L]], "res1")
check("prefix, right, no route", reply("/securearea/a/b", Authorization = login("user-1:password-1")),
  list(404L, "404 Not Found", list()))
bearer <- AuthBackendBearer$new(FUN = function(token) token == "valid-token")
app <- quiet(middleware = list(EncodeDecodeMiddleware$new(), AuthMiddleware$new(bearer, "/secure")))
app$add_get("/secure", function(rq, rs) rs$body <- "Hello, World!")
check("token: none", reply("/secure"), list(401L, "401 Missing Authorization Header", challenge))
check("token: right", reply("/secure", Authorization = "Bearer valid-token"), list(200L, "Hello, World!", list()))
check("token: wrong", reply("/secure", Authorization = "Bearer invalid-token"), list(
  401L, "401 Invalid Token",
  list("WWW-Authenticate" = "error=\"invalid_token\",error_description=\"Invalid or expired access token\"")
))
basics <- function(text) list(401L, paste0("401 Invalid Authorization Header", text), challenge)
check("token: another scheme", reply("/secure", Authorization = "Basic x"), basics(". Must start with 'bearer'"))
check("token: empty", reply("/secure", Authorization = ""), basics(". Must start with 'bearer'"))
check("token: missing", reply("/secure", Authorization = "Bearer"), basics(": Token Missing"))
check("token: more", reply("/secure", Authorization = "Bearer a b"), basics(": Contains extra content"))

# Nothing that is refused before user code is asked can be swallowed by that code, and what it returns counts.
swallow <- function(...) !inherits(tryCatch(list(...), error = identity), "nothing")
for (class in list(AuthBackendBearer, AuthBackendBasic)) {
  app <- quiet(middleware = list(EncodeDecodeMiddleware$new(), AuthMiddleware$new(class$new(FUN = swallow), "/secure")))
  app$add_get("/secure", function(rq, rs) rs$body <- "secret")
  check("nothing swallows a missing header", reply("/secure"), list(401L, "401 Missing Authorization Header", challenge))
  check("nothing swallows a wrong one", reply("/secure", Authorization = "x y z")[[1L]], 401L)
}
returned <- Middleware$new(process_request = function(rq, rs) if (rq$path == "/secure") HTTPError$unauthorized())
for (middleware in list(list(returned), list(EncodeDecodeMiddleware$new(), returned))) {
  app <- quiet(middleware = middleware)
  app$add_get("/secure", function(rq, rs) rs$body <- "secret")
  app$add_get("/gone", function(rq, rs) HTTPError$gone())
  check("an error that is returned", reply("/secure")[1:2], list(401L, "401 Unauthorized"))
  check("also by a handler", reply("/gone")[1:2], list(410L, "410 Gone"))
}
app <- quiet()
app$add_get("/gone", function(rq, rs) HTTPError$gone())
check("also where nothing else runs", reply("/gone")[1:2], list(410L, "410 Gone"))

# Errors need no middleware that encodes.
for (middleware in list(list(), list(EncodeDecodeMiddleware$new()))) {
  app <- quiet(middleware = c(middleware, ETagMiddleware$new()))
  app$add_get("/x", function(rq, rs) rs$body <- "x")
  app$add_get("/stop", function(rq, rs) stop("x"))
  app$add_get("/list", function(rq, rs) raise(HTTPError$conflict(list(a = "b"))))
  check("404", reply("/none")[1:2], list(404L, "404 Not Found"))
  check("405", get(app, "/x", "POST")$body, "405 Method Not Allowed")
  check("412", reply("/x", "If-Match" = "y")[[1L]], 412L)
  check("500", reply("/stop")[1:2], list(500L, "500 Internal Server Error"))
  check("a list", reply("/list")[1:2], list(409L, "b"))
}
check("no backend", inherits(try(AuthMiddleware$new(), silent = TRUE), "try-error"), TRUE)
bad <- try(AuthMiddleware$new(basic, "/", c("exact", "exact")), silent = TRUE)
check("more matches than routes", inherits(bad, "try-error"), TRUE)

# CORS
app <- quiet(middleware = list(CORSMiddleware$new(routes = "/cors")))
for (path in c("/cors", "/nocors")) {
  app$add_post(path, function(rq, rs) rs$set_body("x"))
  app$add_route(path, "OPTIONS", function(rq, rs) {
    rs$set_header("Allow", "POST, OPTIONS")
    rs$set_body("OK")
  })
}
rs <- get(app, "/cors", "OPTIONS", list("Access-Control-Request-Method" = "POST"))
check("preflight", list(rs$body, rs$status_code, rs$headers[c(
  "Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Max-Age"
)]), list("OK", 200L, list(
  "Access-Control-Allow-Origin" = "*", "Access-Control-Allow-Methods" = "POST, OPTIONS",
  "Access-Control-Max-Age" = "86400"
)))
check("request", get(app, "/cors", "POST")$headers, list("Access-Control-Allow-Origin" = "*"))
check("elsewhere", get(app, "/nocors", "OPTIONS")$headers, list(Allow = "POST, OPTIONS"))

# ETags
directory <- tempfile("static")
dir.create(directory)
file <- file.path(directory, "example.txt")
writeLines("Hello World", file)
Sys.setFileTime(file, .POSIXct(1600000000.5))
app <- quiet(middleware = list(ETagMiddleware$new(routes = c("/static", "/object"))))
app$add_static("/static", directory)
app$add_get("/object", function(rq, rs) rs$set_body(data.frame(x = "hello world")))
app$add_get("/no_etag", function(rq, rs) rs$set_body("none"))
hash <- salver$etag_hash(c(file = file))
check("crc32", c(salver$crc32(charToRaw("123456789")), hash), c("cbf43926", "b095e5e3"))
conditional <- function(...) {
  rs <- get(app, "/static/example.txt", headers = list(...))
  list(rs$status_code, names(rs$headers), is.null(rs$body))
}
whole <- list(200L, c("Last-Modified", "ETag"), FALSE)
same <- list(304L, NULL, TRUE)
after <- "Sun, 13 Sep 2020 12:26:41 GMT"
before <- "Sun, 13 Sep 2020 12:26:39 GMT"
check("no condition", conditional(), whole)
check("values", get(app, "/static/example.txt")$headers,
  list("Last-Modified" = "Sun, 13 Sep 2020 12:26:40 GMT", ETag = hash))
check("If-Modified-Since, later", conditional("If-Modified-Since" = after), same)
check("If-Modified-Since, earlier", conditional("If-Modified-Since" = before), whole)
check("If-None-Match", conditional("If-None-Match" = hash), same)
check("If-None-Match, of several", conditional("If-None-Match" = c("OTHER", hash)), same)
check("If-None-Match, wrong", conditional("If-None-Match" = "WRONG"), whole)
check("If-None-Match goes first", conditional("If-None-Match" = "WRONG", "If-Modified-Since" = after), whole)
check("If-Match", conditional("If-Match" = hash), whole)
check("If-Match, any", conditional("If-Match" = "*"), whole)
check("If-Match, wrong", conditional("If-Match" = "WRONG")[[1L]], 412L)
check("If-Unmodified-Since, earlier", conditional("If-Unmodified-Since" = before)[[1L]], 412L)
check("If-Unmodified-Since, later", conditional("If-Unmodified-Since" = after), whole)
object <- get(app, "/object")$headers$ETag
check("object", get(app, "/object", headers = list("If-None-Match" = object))$status_code, 304L)
check("elsewhere", get(app, "/no_etag")$headers, list())
check("no function", inherits(try(ETagMiddleware$new(hash_function = "x"), silent = TRUE), "try-error"), TRUE)
finish()
