# Annotated functions where plumber is not installed.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
assign("has_plumber", function() FALSE, envir = salver)
offer <- jsonlite::parse_json(salver$load(test_file("apps/annotated.R")))
check("title", offer[1:2], list(application = FALSE, title = "Numbers"))
routes <- vapply(offer$endpoints, function(e) paste(e$method, e$path), "")
check("routes", routes[1:4], c("GET /double", "POST /double", "GET /text/<name:chr>/<times:int>", "GET /html"))
check("names", c(offer$endpoints[[1L]]$`function`, offer$endpoints[[3L]]$`function`), c("double_it", ""))
check("parameter", offer$endpoints[[1L]]$parameters, list(
  list(name = "n", kind = "number", list = FALSE, required = TRUE, table = FALSE, description = "the number")
))
check("types of the path", vapply(offer$endpoints[[3L]]$parameters, `[[`, "", "kind"), c("text", "integer"))
check("summary", offer$endpoints[[1L]]$summary, "The double")

request <- list("GET", "/request", "", c("x-a" = "1"), raw(), "127.0.0.1:1")
call <- function(route, ...) salver$call_function(match(route, routes), list(...), request)
typed <- function(type) c("Content-Type" = type)
check("json by the host", call("GET /double", n = 2), list(200L, NULL, 4, 3L))
check("text", call("GET /text/<name:chr>/<times:int>", name = "a", times = 2L),
  list(200L, typed("text/plain; charset=UTF-8"), "a\na", 0L))
check("html", call("GET /html"), list(200L, typed("text/html; charset=UTF-8"), "<p>x</p>", 0L))
check("csv", call("GET /csv")[[3L]], "\"a\",\"b\"\n1,\"x\"\n2,\"y \"\"z\"\"\"\n")
check("json", call("GET /json"), list(200L, typed("application/json"), "{\"a\":[1],\"b\":[\"x\"]}", 0L))
check("rows", call("GET /rows")[[3L]], "[{\"a\":1,\"b\":\"x\"},{\"a\":2}]")
check("unboxed", call("GET /unboxed"), list(200L, NULL, list(a = 1), 3L))
check("print", call("GET /print")[[3L]], "[1] 1 2 3")
check("bytes", call("GET /bytes"), list(200L, typed("application/octet-stream"), as.raw(0:2), 0L))
plot <- call("GET /plot")
check("png", list(plot[[4L]], plot[[2L]], readBin(plot[[3L]], "raw", 4L)[2:4]),
  list(2L, typed("image/png"), charToRaw("PNG")))
# Width and height stand in the header of a PNG.
check("size of the png", as.integer(readBin(plot[[3L]], "raw", 24L)[c(19:20, 23:24)]), c(1L, 44L, 0L, 240L))
check("svg", any(grepl("<svg", readLines(call("GET /drawing")[[3L]], 3L))), TRUE)
sees <- vapply(offer$endpoints, `[[`, TRUE, "request")
check("who sees the request", routes[sees], c("GET /request", "POST /body"))
body <- charToRaw(enc2utf8("{\"a\":\"\u00e9\"}"))
posted <- list("POST", "/body", "", c("content-type" = "application/json"), body, "127.0.0.1:1")
check("the body of the request", salver$call_function(match("POST /body", routes), list(), posted)[[3L]],
  list("{\"a\":\"\u00e9\"}", length(body)))
check("req and res", call("GET /request"), list(201L, c("X-Path" = "/request"), "1", 3L))
devices <- grDevices::dev.list()
check("stop()", tryCatch(call("GET /stop"), error = conditionMessage), "no plot")
check("no device stays open", grDevices::dev.list(), devices)

# What only plumber does refuses the file, before any of its code runs.
salver <- start_again()
assign("has_plumber", function() FALSE, envir = salver)
refused <- function(...) {
  file <- tempfile(fileext = ".R")
  writeLines(c("ran <<- TRUE", ..., "#* @get /x", "function() 1"), file)
  ran <<- FALSE
  message <- tryCatch(salver$load(file), error = conditionMessage)
  list(grepl("needs the package plumber, which is not installed", message, fixed = TRUE), sub(" needs.*", "", message), ran)
}
options(plumber.sharedSecret = NULL)
for (word in c("@filter a", "@preempt a", "@plumber", "@assets .", "@parser json", "@Filter a")) {
  said <- paste0("line 2: `", sub(" .*", "", word), "`")
  check(word, refused(paste("#*", word), "function() NULL"), list(TRUE, said, FALSE))
}
check("above the route itself", refused("#' @preempt a")[[1L]], TRUE)
check("options of a serializer", refused("#* @serializer json list(digits = 2)"),
  list(TRUE, "`@serializer json` with options", TRUE))
check("other serializers", refused("#* @serializer feather")[1:2], list(TRUE, "`@serializer feather`"))
check("a shared secret", refused("options(plumber.sharedSecret = 'x')")[1:2],
  list(TRUE, "the option `plumber.sharedSecret`"))
options(plumber.sharedSecret = NULL)
check("a cookie", refused("f <- function(req) {", "  if (is.null(req$cookies$user)) stop('no')", "}")[1:2],
  list(TRUE, "`req$cookies`"))
check("a cookie that is set", refused("g <- function(a, res) if (a) res[['setCookie']]('a', a)")[1:2],
  list(TRUE, "`res$setCookie`"))
check("a field of its own", substr(refused("f <- function(req) {", "  req$session <- 1", "  req$session", "}")[[2L]], 1L, 1L),
  "{")
check("a file without them", substr(refused("# @filter")[[2L]], 1L, 1L), "{")

# A response that is returned, with any serializer and without a body.
writeLines(c(
  "#* @get /a", "function(res) {", "  res$status <- 202", "  res$setHeader('X-A', 'b')", "  res", "}",
  "#* @get /b", "#* @serializer html", "function(res) {", "  res$body <- '<p>'", "  res", "}",
  "#* @get /c", "#* @serializer octet", "function(res) res"
), file <- tempfile(fileext = ".R"))
invisible(salver$load(file))
returned <- lapply(1:3, function(i) salver$call_function(i, list(), request))
check("a response that is returned", returned, list(
  list(202L, c("X-A" = "b"), raw(), 0L), list(200L, NULL, "<p>", 0L), list(200L, NULL, raw(), 0L)
))

# Lists of data frames, several fields of one name, numbers that are written as whole ones, arrays in place of rows.
writeLines(c(
  "#* @get /a", "#* @serializer json", "function() list(f = data.frame(a = 1:2), l = list(data.frame(b = 'x'), 2))",
  "#* @get /b", "function(res) {", "  res$setHeader('Set-Cookie', 'a=1')", "  res$setHeader('Set-Cookie', 'b=2')", "  1",
  "}",
  "#* @get /c", "#* @param v:number", "#* @param w:[number]", "function(v, w) c(typeof(v), typeof(w))",
  "#* @post /d", "#* @param v:df", "function(v) v"
), file <- tempfile(fileext = ".R"))
invisible(salver$load(file))
nested <- "{\"f\":[{\"a\":1},{\"a\":2}],\"l\":[[{\"b\":\"x\"}],[2]]}"
check("data frames in a list", salver$call_function(1L, list(), request)[[3L]], nested)
assign("requireNamespace", function(...) FALSE, envir = salver)
check("without jsonlite", salver$call_function(1L, list(), request)[[3L]], nested)
rm("requireNamespace", envir = salver)
check("two cookies", salver$call_function(2L, list(), request)[[2L]], c("Set-Cookie" = "a=1", "Set-Cookie" = "b=2"))
check("numbers", salver$call_function(3L, list(v = 1L, w = 1:2), request)[[3L]], c("double", "double"))
check("arrays as rows", salver$call_function(4L, list(v = list(list(1, 2), list(3, 4))), request)[[3L]],
  data.frame(V1 = c(1, 3), V2 = c(2, 4)))
for (path in c("/li/<x:[int]>", "/two/<a>-<b>")) {
  said <- tryCatch(
    salver$load({
      writeLines(c(paste("#* @get", path), "function(...) 1"), file <- tempfile(fileext = ".R"))
      file
    }),
    error = conditionMessage
  )
  check(path, grepl("the path", said, fixed = TRUE) && grepl("needs the package plumber", said, fixed = TRUE), TRUE)
}

# Every method.
writeLines(c("#* @use /use", "#* @any /any", "function() 1"), file <- tempfile(fileext = ".R"))
every <- jsonlite::parse_json(salver$load(file))$endpoints
check("every method", lapply(every, `[`, c("method", "path")), list(
  list(method = NULL, path = "/use"), list(method = NULL, path = "/any")
))
finish()
