# Rserve's own interface: a function named `.http.request` that answers every request.

# The version of the package whose interface this is.
rserve_version <- "1.8.13"

# Makes `run.Rserve` register instead of listening, whether the package is installed or not.
take_rserve <- function() {
  if (!nzchar(system.file(package = "Rserve"))) {
    run <- function(...) start_rserve()
    return(provide_package("Rserve", rserve_version, list(run.Rserve = run, Rserve = run)))
  }
  options(salver.start_rserve = start_rserve)
  setHook(packageEvent("Rserve", "onLoad"), function(...) {
    namespace <- asNamespace("Rserve")
    for (name in c("run.Rserve", "Rserve")) {
      assign(name, function(...) getOption("salver.start_rserve")(), envir = namespace)
    }
  })
}

# The function of the file, or NULL.
http_request_function <- function() {
  handler <- get0(".http.request", globalenv(), inherits = FALSE)
  if (is.function(handler)) handler
}

start_rserve <- function() {
  if (is.null(http_request_function())) stop("run.Rserve() serves the function `.http.request`, and there is none")
  state$application <- list(kind = "rserve", object = http_request_function())
  end_of_file()
}

rserve_worker <- function(handler) {
  function(method, path, query, headers, body, address) {
    call <- rserve_call(method, path, query, headers, body)
    arguments <- seq_len(min(4L, if ("..." %in% names(formals(args(handler)))) 4L else length(formals(args(handler)))))
    answer_of_rserve(do.call(handler, call[arguments]))
  }
}

# What Rserve gives `.http.request`: path, query, body and header lines. A query and the body of a form are named
# vectors, other bodies are bytes with their type as an attribute; without one, they are NULL.
rserve_call <- function(method, path, query, headers, body) {
  # A caller must not name a method of its own here.
  headers <- headers[tolower(names(headers)) != "request-method"]
  lines <- c(paste0("Request-Method: ", method), paste0(names(headers), ": ", headers, recycle0 = TRUE))
  type <- unname(headers[match("content-type", tolower(names(headers)))])
  if (!length(body)) {
    body <- NULL
  } else if (length(type) && startsWith(tolower(c(type, "")[1L]), "application/x-www-form-urlencoded")) {
    body <- unlist(parse_query(text_of_bytes(body)))
  } else if (length(type) && !is.na(type)) {
    attr(body, "content-type") <- type
  }
  list(url_decode(path), unlist(parse_query(query)), body, charToRaw(paste(lines, collapse = "\r\n")))
}

# `list(body, content type, header lines, status)`, of which only the first is needed. A body named `file` or `tmpfile`,
# as an element of the list or by itself, is the path of one. Text alone is a page, and so is a list without a type.
answer_of_rserve <- function(answer) {
  if (is.null(answer)) answer <- list(raw())
  if (!is.list(answer)) answer <- list(answer)
  if (inherits(answer[[1L]], "try-error")) stop(answer[[1L]])
  body <- if (is.list(answer[[1L]])) unlist(answer[[1L]]) else answer[[1L]]
  named <- c(names(answer)[1L], if (is.character(body)) names(body)[1L])
  kind <- if ("file" %in% named) 1L else if ("tmpfile" %in% named) 2L else 0L
  if (!is.raw(body)) body <- paste(as.character(unname(body)), collapse = "\n")
  type <- if (length(answer) > 1L && is_string(answer[[2L]])) answer[[2L]] else "text/html"
  lines <- if (length(answer) > 2L) unlist(strsplit(as.character(answer[[3L]]), "\r?\n"))
  lines <- lines[grepl(":", lines, fixed = TRUE)]
  fields <- stats::setNames(sub("^[^:]*: *", "", lines), sub(":.*$", "", lines))
  status <- if (length(answer) > 3L) as.integer(answer[[4L]])[1L] else 200L
  list(status, c("Content-Type" = type, fields), body, kind)
}
