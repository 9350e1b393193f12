# What the host does, in R: the runtime's sources in an environment of their own, byte-compiled.

tests_directory <- normalizePath(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])))

test_file <- function(name) file.path(tests_directory, name)

start_host <- function(directory = test_file("../../r")) {
  salver <- new.env(parent = .BaseNamespaceEnv)
  # As the host: by the bytes of the names, whatever the locale.
  for (file in sort(list.files(directory, "[.]R$", full.names = TRUE), method = "radix")) {
    for (expression in parse(file, keep.source = FALSE)) eval(expression, salver)
  }
  for (name in ls(salver, all.names = TRUE)) {
    value <- get(name, salver)
    if (is.function(value)) assign(name, compiler::cmpfun(value), envir = salver)
  }
  salver
}

# A runtime that is made again in a process that has one: what is done once there stays as it is.
start_again <- function() {
  salver <- start_host()
  assign("prepare", function() if (isNamespaceLoaded("plumber")) salver$adopt_plumber(), envir = salver)
  salver
}

# The value of an expression in a process of its own, a copy of this one as the host's workers are.
in_copy <- function(expression) {
  job <- parallel::mcparallel(expression, mc.set.seed = FALSE)
  value <- parallel::mccollect(job)[[1L]]
  if (inherits(value, "try-error")) stop("the copy failed: ", value)
  value
}

# One request; the answer's body as text, and its header fields without `Server`, which nearly all have.
ask <- function(salver, path, ...) {
  answer <- ask_whole(salver, path, ...)
  answer$headers <- answer$headers[names(answer$headers) != "Server"]
  answer
}

ask_whole <- function(salver, path, method = "GET", headers = character(), body = raw()) {
  parts <- strsplit(path, "?", fixed = TRUE)[[1L]]
  query <- if (length(parts) > 1L) parts[2L] else ""
  if (is.character(body)) body <- charToRaw(body)
  own <- salver$own_application()
  answer <- if (is.null(own)) salver$call_application(method, parts[1L], query, headers, body, "127.0.0.1:50000")
  else own(method, salver$url_decode(parts[1L]), salver$parse_query(query), headers, body)
  stopifnot(is.integer(answer[[1L]]), is.null(answer[[2L]]) || is.character(answer[[2L]]), is.integer(answer[[4L]]))
  text <- answer[[3L]]
  if (answer[[4L]] == 0L && is.raw(text)) text <- if (any(text == 0)) text else rawToChar(text)
  list(status = answer[[1L]], headers = answer[[2L]], body = text, kind = answer[[4L]])
}

# The requests at the end of a file: `#> METHOD TARGET | field: value | body`, with `\\r\\n` for line breaks.
requests_of <- function(file) {
  lines <- sub("^#> ", "", grep("^#> ", readLines(file), value = TRUE))
  lapply(strsplit(lines, " | ", fixed = TRUE), function(parts) {
    head <- strsplit(parts[1L], " ", fixed = TRUE)[[1L]]
    is_field <- grepl("^[a-z-]+: ", parts[-1L])
    fields <- parts[-1L][is_field]
    body <- parts[-1L][!is_field]
    list(
      method = head[1L], target = head[2L],
      fields = stats::setNames(sub("^[^:]*: ", "", fields), sub(":.*$", "", fields)),
      body = if (length(body)) gsub("\\r\\n", "\r\n", body, fixed = TRUE) else ""
    )
  })
}

failures <- 0L
checks <- 0L

check <- function(what, got, wanted) {
  checks <<- checks + 1L
  if (identical(got, wanted)) return(invisible(TRUE))
  failures <<- failures + 1L
  cat("FAILED: ", what, "\n  wanted: ", sep = "")
  cat(deparse(wanted), sep = "\n          ")
  cat("  got:    ")
  cat(deparse(got), sep = "\n          ")
  invisible(FALSE)
}

finish <- function() {
  cat(checks, "checks,", failures, "failed\n")
  if (failures) quit(status = 1L)
}
