# RestRserve's classes, each by itself: what its own tests say of them.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
invisible(salver$load(test_file("apps/classes.R")))
check("an application that is not started", ask(salver, "/")$body, "root")

fails <- function(expression) {
  tryCatch({
    expression
    "no error"
  }, error = conditionMessage)
}
backend <- BackendRserve$new()

# Router
Router <- RestRserve:::Router
r <- Router$new()
r$add_path("/test1", "exact", "1")
r$add_path("/test3/", "exact", "1")
check("router size", r$size(), 2L)
check("router paths", r$paths, c(exact = "/test1", exact = "/test3"))
check("exact twice", fails(r$add_path("/test1", "exact", "1")), "Path already exists.")
r$add_path("/test2", "partial", "1")
check("partial twice", fails(r$add_path("/test2/", "partial", "1")), "Prefix already exists.")
r$add_path("/test1/{var1}", "regex", "1")
check("regex twice", fails(r$add_path("/test1/{var1}", "regex", "1")), "Regex already exists.")
check("regex without variables", fails(r$add_path("/", "regex", "1")), "Can't detect variables.")
h <- Router$new()
h$add_path("/test1", "exact", "1")
h$add_path("/test2/", "partial", "2")
h$add_path("/test2/{var1}", "regex", "3")
h$add_path("/test3/", "partial", "4")
h$add_path("/test3/{var1}/text/{var2}", "regex", "5")
found <- vapply(
  c("/test", "/test1", "/test2", "/test2/", "/test2/test", "/test3/", "/test3/test", "/test3/v/text/w"),
  function(path) paste0("", h$match_path(path), recycle0 = FALSE), "", USE.NAMES = FALSE
)
check("match_path", found, c("", "1", "", "2", "3", "4", "4", "5"))
check("variables", attr(h$match_path("/test3/1/text/3"), "parameters_path"), list(var1 = "1", var2 = "3"))

# Request
r <- Request$new()
check("request class", inherits(r, "Request"), TRUE)
check("request defaults", list(r$path, r$method, r$body, r$headers, r$parameters_query, r$content_type, nchar(r$id)),
  list("/", "GET", NULL, list(), list(), NULL, 36L))
r$set_id("custom")
check("set_id", r$id, "custom")
r <- Request$new()
backend$set_request(r, headers = charToRaw(paste(
  "Request-Method: PUT", "Host: 127.0.0.1:5000", "User-Agent: curl/7.65.3", "Accept: text/plain", "Accept: text/html",
  "Cookie: param1=value1; param2=value2", sep = "\r\n"
)))
check("method", r$method, "PUT")
check("headers", r$headers, list(
  host = "127.0.0.1:5000", "user-agent" = "curl/7.65.3", accept = c("text/plain", "text/html"),
  cookie = c("param1=value1", "param2=value2")
))
check("cookies", r$cookies, list(param1 = "value1", param2 = "value2"))
named <- stats::setNames(c("value1", "value2", "", "value4 and others"), c("param1", "", "param3", "param4"))
r <- Request$new()
backend$set_request(r, parameters_query = named)
check("query", r$parameters_query, list(param1 = "value1", param4 = "value4 and others"))
backend$set_request(r, headers = charToRaw("Content-type: application/x-www-form-urlencoded"), body = named)
check("form", r$parameters_body, list(param1 = "value1", param4 = "value4 and others"))
check("form's bytes", rawToChar(r$body), "param1=value1&param4=value4%20and%20others")
check("get_param_body", list(r$get_param_body("test"), r$get_param_body("param1")), list(NULL, "value1"))
b <- raw(10)
attr(b, "content-type") <- "custom/type"
backend$set_request(r, body = b)
check("content type of a body", r$content_type, "custom/type")
backend$set_request(r, body = NULL)
check("no body", r$body, raw())
r <- Request$new(headers = list(Accept = c("plain/text", "text/html")))
check("accept", list(r$accept, r$accept_json, r$accept_xml), list(c("plain/text", "text/html"), FALSE, FALSE))
r$headers[["accept"]] <- "application/json"
check("accept_json", r$accept_json, TRUE)
r$headers[["date"]] <- "Sun, 04 Aug 2019 07:17:39 GMT"
check("date", as.numeric(r$date), 1564903059)
r <- Request$new(path = "/a", parameters_query = list(key = "value", KEY = "VALUE"), cookies = list(c = "1"))
check("case of keys", c(r$get_param_query("key"), r$get_param_query("KEY")), c("value", "VALUE"))
r$reset()
check("reset", list(r$path, r$parameters_query, r$cookies, r$body), list("/", list(), list(), NULL))
check("print", length(utils::capture.output(print(Request$new()))) > 0L, TRUE)

# Response
r <- Response$new()
server <- paste0("Server: ", getOption("RestRserve.headers.server"))
check("response defaults", backend$convert_response(r), list(raw(), "text/plain", server, 200L))
check("set_header", fails(r$set_header("name", NA)) != "no error", TRUE)
warned <- function(expression) tryCatch(expression, warning = conditionMessage)
check("Content-type", grepl("not accepted by Rserve", warned(r$set_header("Content-type", "a/b"))), TRUE)
check("Content-length", grepl("not accepted by Rserve", warned(r$append_header("Content-length", "0"))), TRUE)
check("Set-cookie", grepl("Use 'set_cookie' method instread", warned(r$set_header("Set-cookie", "a=b"))), TRUE)
check("has_header", c(r$set_header("Test", "v")$has_header("test"), r$has_header("Test")), c(FALSE, TRUE))
check("delete_header", list(r$delete_header("Test"), r$get_header("Test", "gone")), list(TRUE, "gone"))
r <- Response$new()
r$set_date(.POSIXct(1564760173, tz = "GMT"))
r$set_body("{status: ok}")$set_content_type("applicaiton/json")$set_status_code(200L)
r$set_header("Custom-Header", "text")$set_cookie(name = "param", "value")
check("cookies of a response", r$cookies[["param"]], list(name = "param", value = "value"))
check("whole response", backend$convert_response(r), list(
  "{status: ok}", "applicaiton/json",
  paste0(server, "\r\nDate: Fri, 02 Aug 2019 15:36:13 GMT\r\nCustom-Header: text\r\nSet-Cookie: param=value"), 200L
))
check("file", backend$convert_response(Response$new(body = c(file = "/a.html"), content_type = "text/html")),
  list(file = "/a.html", "text/html", server, 200L))
check("tmpfile", backend$convert_response(Response$new(body = c(tmpfile = "/a")))[1L], list(tmpfile = "/a"))
check("encode", backend$convert_response(Response$new(body = list(), encode = to_json))[[1L]], "[]")
r$set_response(404L, "No no", "text/unknown")
check("set_response", list(r$status_code, r$body, r$content_type, r$status),
  list(404L, "No no", "text/unknown", "404 Not Found"))
r$unset_date()
check("unset_date", r$get_header("Date"), NULL)

# HTTPError, raise
errors <- c(
  "bad_request", "unauthorized", "forbidden", "not_found", "method_not_allowed", "not_acceptable", "conflict", "gone",
  "length_required", "precondition_failed", "payload_too_large", "uri_too_long", "unsupported_media_type",
  "range_not_satisfiable", "unprocessable_entity", "locked", "failed_dependency", "precondition_required",
  "too_many_requests", "request_header_fields_too_large", "unavailable_for_legal_reasons", "internal_server_error",
  "not_implemented", "bad_gateway", "service_unavailable", "gateway_timeout", "version_not_supported",
  "insufficient_storage", "loop_detected", "network_authentication_required"
)
bodies <- vapply(errors, function(name) HTTPError[[name]]()$body$error, "", USE.NAMES = FALSE)
check("30 errors", bodies, c(
  "400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "405 Method Not Allowed",
  "406 Not Acceptable", "409 Conflict", "410 Gone", "411 Length Required", "412 Precondition Failed",
  "413 Payload Too Large", "414 URI Too Long", "415 Unsupported Media Type", "416 Range Not Satisfiable",
  "422 Unprocessable Entity", "423 Locked", "424 Failed Dependency", "428 Precondition Required",
  "429 Too Many Requests", "431 Request Header Fields Too Large", "451 Unavailable For Legal Reasons",
  "500 Internal Server Error", "501 Not Implemented", "502 Bad Gateway", "503 Service Unavailable",
  "504 Gateway Timeout", "505 HTTP Version Not Supported", "507 Insufficient Storage", "508 Loop Detected",
  "511 Network Authentication Required"
))
check("error body", HTTPError$bad_request("n should be >= 0")$body, "n should be >= 0")
e <- tryCatch(raise(HTTPError$not_found()), error = identity)
check("raise", list(class(e), names(e), e$message, inherits(e$response, "Response")),
  list(c("HTTPError", "error", "condition"), c("message", "call", "response"), "raise", TRUE))
HTTPError$set_content_type("application/json")
check("content type of errors", HTTPError$bad_gateway()$content_type, "application/json")
check("errors without an encoder", backend$convert_response(HTTPError$bad_gateway())[[1L]],
  "500 Internal Server Error (body is not character or raw)")
HTTPError$set_encode(ContentHandlers$get_encode("application/json"))
answer <- backend$convert_response(app$process_request(Request$new(path = "/404")))
check("errors as json", answer[1:2], list("{\"error\":\"404 Not Found\"}", "application/json"))
HTTPError$reset()

# Content handlers
handlers <- ContentHandlersFactory$new()
check("handlers", "application/json" %in% names(handlers$list()), TRUE)
check("unknown decoder", tryCatch(handlers$get_decode("unknown"), error = function(e) e$response$status_code), 415L)
check("json decoder", handlers$get_decode("application/json; charset=utf-8")(charToRaw("{\"p\":\"v\"}")), list(p = "v"))
check("json encoder", handlers$get_encode("application/json; charset=utf-8")(list(param = "value")),
  "{\"param\":\"value\"}")
check("text encoder", handlers$get_encode("text/plain; charset=utf-8")(list(param = "value")), "value")
check("type that is none", tryCatch(handlers$get_encode(NULL), error = function(e) e$response$body$error),
  "500 Internal Server Error: can't encode the body - invalid 'content_type'")

# Dates
check("to_http_date", to_http_date(.POSIXct(1564760173, tz = "GMT")), "Fri, 02 Aug 2019 15:36:13 GMT")
check("to_http_date of nothing", list(to_http_date(NULL), to_http_date(NA)), list(NULL, NULL))
check("from_http_date", as.numeric(from_http_date("Fri, 02 Aug 2019 15:36:13 GMT")), 1564760173)
check("from_http_date of another text", fails(from_http_date("test")), "Parse date string failed.")

# Logger
lines <- function(expression) utils::capture.output(expression)
logger <- Logger$new(name = "TEST")
entry <- jsonlite::fromJSON(lines(logger$info("message", data = list(one = 1))))
check("log entry", names(entry), c("timestamp", "level", "name", "pid", "msg", "data"))
check("log values", entry[c("level", "name", "msg", "data")],
  list(level = "INFO", name = "TEST", msg = "message", data = list(one = 1L)))
check("below the level", lines(logger$debug("x")), character())
logger$set_printer(function(timestamp, level, logger_name, pid, message, ...) cat(level, message, "\n"))
check("own printer", lines(logger$error("oh")), "ERROR oh ")
logger$set_log_level("off")
check("off", lines(logger$fatal("x")), character())

# Application
a <- Application$new()
a$logger$set_log_level("off")
check("endpoints of none", length(a$endpoints), 0L)
f <- function(rq, rs) NULL
a$add_route("/", "GET", f)
a$add_route("/dir", "GET", f, "partial")
a$add_route("/post", "POST", f)
check("endpoints", a$endpoints[c("POST", "GET")], list(
  POST = c(exact = "/post"), GET = c(exact = "/", partial = "/dir/")
))
check("route twice", fails(a$add_route("/", "GET", f)), "Path already exists.")
check("handler with one argument", fails(a$add_get("/x", function(rq) 1)) != "no error", TRUE)
check("method that is none", fails(a$add_route("/x", "FETCH", f)) != "no error", TRUE)
check("swagger before openapi", fails(a$add_swagger_ui()) != "no error", TRUE)
logged <- character()
a$logger$set_log_level("error")
a$logger$set_printer(function(timestamp, level, logger_name, pid, message, ...) logged <<- c(logged, message))
a$add_get("/stop", function(rq, rs) stop("Error in x : y"))
a$add_get("/c", function(rq, rs) as.numeric(list(1, "a", mean)))
invisible(a$process_request(Request$new(path = "/stop")))
check("errors are logged in their own words", logged, "Error in x : y")
invisible(a$process_request(Request$new(path = "/c")))
check("so are those of R's own code", grepl("^'list' object cannot be coerced to type 'double'", logged[2L]), TRUE)
check("no routes", backend$convert_response(Application$new()$process_request(Request$new()))[c(1, 4)],
  list("405 Method Not Allowed", 405L))
finish()
