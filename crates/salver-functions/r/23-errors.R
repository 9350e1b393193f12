# `HTTPError`, `raise`, `Logger`.

error_names <- c(
  bad_request = 400L, unauthorized = 401L, forbidden = 403L, not_found = 404L, method_not_allowed = 405L,
  not_acceptable = 406L, conflict = 409L, gone = 410L, length_required = 411L, precondition_failed = 412L,
  payload_too_large = 413L, uri_too_long = 414L, unsupported_media_type = 415L, range_not_satisfiable = 416L,
  unprocessable_entity = 422L, locked = 423L, failed_dependency = 424L, precondition_required = 428L,
  too_many_requests = 429L, request_header_fields_too_large = 431L, unavailable_for_legal_reasons = 451L,
  internal_server_error = 500L, not_implemented = 501L, bad_gateway = 502L, service_unavailable = 503L,
  gateway_timeout = 504L, version_not_supported = 505L, insufficient_storage = 507L, loop_detected = 508L,
  network_authentication_required = 511L
)

http_error_factory <- function() {
  content_type <- "text/plain"
  encode <- NULL
  error <- function(status_code, body, headers = default_headers(), ...) {
    response <- new_response(body, content_type, if (is.null(headers)) list() else headers, status_code, encode)
    class(response) <- c("HTTPError", "Response")
    response
  }
  set_content_type <- function(content_type) {
    content_type <<- content_type
    invisible(self)
  }
  set_encode <- function(encode) {
    encode <<- encode
    invisible(self)
  }
  reset <- function() {
    content_type <<- "text/plain"
    encode <<- NULL
    invisible(self)
  }
  self <- environment()
  for (name in names(error_names)) assign(name, http_error_constructor(self, error_names[[name]]), envir = self)
  rm(name)
  class(self) <- "HTTPErrorFactory"
  self
}

http_error_constructor <- function(factory, code) {
  force(code)
  function(body = list(error = status_text(code)), headers = default_headers(), ...) {
    factory$error(code, body, headers, ...)
  }
}

# Ends the handler with a response.
raise <- function(x) {
  if (!inherits(x, "Response")) stop("raise() takes a response of HTTPError")
  stop(structure(class = c("HTTPError", "error", "condition"), list(message = "raise", call = NULL, response = x)))
}

log_levels <- c(off = 0L, fatal = 100L, error = 200L, warn = 300L, info = 400L, debug = 500L, trace = 600L, all = 1000L)

# `Logger$new(level, name, printer)`: JSON lines on the standard output.
new_logger <- function(level = "info", name = "ROOT", printer = NULL) {
  .level <- log_level(level)
  .print <- function(timestamp, level, logger_name, pid, message, ...) {
    entry <- c(
      list(
        timestamp = format(timestamp, "%Y-%m-%d %H:%M:%OS6"), level = level, name = logger_name, pid = pid,
        msg = message
      ),
      list(...)
    )
    cat(to_json_text(entry), "\n", sep = "")
  }
  .printer <- if (is.null(printer)) .print else printer
  .log <- function(key, msg, ...) {
    if (log_levels[[key]] > .level) return(invisible(msg))
    .printer(Sys.time(), toupper(key), name, Sys.getpid(), msg, ...)
    invisible(msg)
  }
  set_name <- function(name = "ROOT") {
    name <<- name
    invisible(self)
  }
  set_log_level <- function(level) {
    .level <<- log_level(level)
    invisible(self)
  }
  set_printer <- function(FUN = NULL) {
    if (!is.null(FUN) && length(formals(FUN)) != 6L) {
      stop("FUN should be a function with 6 formal arguments - (timestamp, level, logger_name, pid, message, ...)")
    }
    .printer <<- if (is.null(FUN)) .print else FUN
    invisible(self)
  }
  fatal <- function(msg, ...) .log("fatal", msg, ...)
  error <- function(msg, ...) .log("error", msg, ...)
  warn <- function(msg, ...) .log("warn", msg, ...)
  warning <- function(msg, ...) .log("warn", msg, ...)
  info <- function(msg, ...) .log("info", msg, ...)
  debug <- function(msg, ...) .log("debug", msg, ...)
  trace <- function(msg, ...) .log("trace", msg, ...)
  self <- environment()
  class(self) <- "Logger"
  self
}

log_level <- function(level) {
  if (is.numeric(level)) return(as.integer(level))
  value <- log_levels[tolower(level)]
  if (length(value) != 1L || is.na(value)) stop("log level must be one of ", paste(names(log_levels), collapse = ", "))
  unname(value)
}
