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
check("dots", offer$endpoints[[4L]]$parameters, list())

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
finish()
