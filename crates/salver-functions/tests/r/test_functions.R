# Plain functions, without annotations of routes.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
offer <- jsonlite::parse_json(salver$load(test_file("apps/plain.R")))
check("not an application", offer$application, FALSE)
check("functions", vapply(offer$endpoints, `[[`, "", "function"), c("fib", "greet", "mean_of", "kinds", "fails"))
parameter <- function(name, kind, list = FALSE, required = TRUE, table = FALSE, description = NULL) {
  base::list(name = name, kind = kind, list = list, required = required, table = table, description = description)
}
check("fib", offer$endpoints[[1L]], list(
  "function" = "fib", method = NULL, path = NULL, prefix = FALSE,
  parameters = list(parameter("n", "integer", description = "which one")),
  summary = "Fibonacci numbers", description = "By adding up.", pure = TRUE, result = "number", vectorized = FALSE,
  request = FALSE, gathers = FALSE
))
check("greet", offer$endpoints[[2L]]$parameters, list(
  parameter("name", "any", table = TRUE), parameter("greeting", "any", required = FALSE, table = TRUE)
))
check("mean_of", offer$endpoints[[3L]]$parameters, list(
  parameter("rows", "object", list = TRUE, table = TRUE, description = "the rows"),
  parameter("by", "text", description = "the column")
))
check("dots", offer$endpoints[[4L]]$parameters, list(parameter("...", "any", required = FALSE)))

request <- list("POST", "/", "", character(), raw(), "127.0.0.1:1")
call <- function(endpoint, ...) salver$call_function(endpoint, list(...), request)
check("fib(10)", call(1L, n = 10L), list(200L, NULL, 55L, 3L))
check("greet", call(2L, name = "Ann")[[3L]], "Hello, Ann!")
check("greet in order of names", call(2L, greeting = "Hi", name = "Ann")[[3L]], "Hi, Ann!")
rows <- list(list(x = 1, y = "a"), list(x = 3))
check("rows", call(3L, rows = rows, by = "x")[[3L]], 2)
frame <- salver$frame_of_rows(rows)
check("frame", frame, data.frame(x = c(1, 3), y = c("a", NA)))
check("frame of columns", salver$frame_of_rows(list(x = 1:2, y = c("a", "b"))), data.frame(x = 1:2, y = c("a", "b")))
check("frame of nothing", dim(salver$frame_of_rows(list())), c(0L, 0L))
check("NULL", call(4L)[[3L]], 0L)
check("no type of a result", offer$endpoints[[2L]]$result, "any")
columns <- function(endpoint, ..., rows, text = FALSE) salver$call_columns(endpoint, list(...), rows, text)
check("over a column", columns(1L, c(10L, 1L), rows = 2L), list(list(55L, 1L), NULL))
check("over two columns", columns(2L, c("Ann", "Bo"), c("Hi", "Ho"), rows = 2L), list(list("Hi, Ann!", "Ho, Bo!"), NULL))
check("over no column", columns(4L, rows = 2L), list(list(0L, 0L), NULL))
check("stop() over a column", columns(5L, rows = 1L), list(NULL, "no way"))
check("stop()", tryCatch(call(5L), error = conditionMessage), "no way")

# Files, bodies, and arguments that are looked for.
writeLines(c(
  "#' @param x:bytes", "#' @param y:[upload]", "f <- function(x, y) list(x, y)",
  "g <- function(a, b = a, ...) if (missing(a)) names(list(...)) else (function(b) missing(b))()",
  "#' @param a*", "h <- function(a) missing(a)", "#* @get /i", "i <- function(req, ...) names(list(...))"
), file <- tempfile(fileext = ".R"))
writeLines(setdiff(readLines(file), "#* @get /i"), plain <- tempfile(fileext = ".R"))
salver <- start_again()
offer <- jsonlite::parse_json(salver$load(plain))
required <- function(endpoint) vapply(endpoint$parameters, `[[`, TRUE, "required")
check("missing()", lapply(offer$endpoints[2:3], required), list(c(FALSE, FALSE, FALSE), TRUE))
check("bytes", vapply(offer$endpoints[[1L]]$parameters, `[[`, "", "kind"), c("bytes", "bytes"))
body <- as.raw(c(0, 255))
asked <- list(method = "POST", path = "/", query = "", headers = c("Content-Type" = "a/b"), body = body, address = "")
uploaded <- function(filename, content_type) {
  structure(list(filename = filename, content_type = content_type, size = 2L, content = body), class = "upload")
}
check("the body", salver$call_function(1L, list(), asked)[[3L]], list(body, list(uploaded(NULL, "a/b"))))
file_of <- list(filename = "n", content_type = NULL, content = "AP8=")
check("files", salver$call_function(1L, list(x = file_of, y = list(file_of, "AP8=")), asked)[[3L]],
  list(body, list(uploaded("n", NULL), uploaded(NULL, NULL))))
check("arguments that are absent", call(2L, x = 1)[[3L]], "x")
assign("has_plumber", function() FALSE, envir = salver)
invisible(salver$load(file))
check("nobody takes the place of req", salver$call_function(1L, list(req = 1, z = 2), asked)[[3L]], "z")
for (text in c("", "Zg==", "Zm8=", "/+++rQ==")) {
  theirs <- tryCatch(jsonlite::base64_dec(text), error = function(e) NULL)
  check(paste("base64", text), salver$base64_decode(text), theirs)
}
check("without padding", salver$base64_decode("Zg"), charToRaw("f"))
check("no base64", lapply(c("*", "a", "\xff\xff"), salver$base64_decode), list(NULL, NULL, NULL))
finish()
