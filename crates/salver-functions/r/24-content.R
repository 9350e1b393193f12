# `ContentHandlers`, `Middleware`, `EncodeDecodeMiddleware`, `to_json`.

to_json <- function(x, unbox = TRUE) to_json_text(x, unbox)

from_json <- function(x) {
  from_json_text(if (is.raw(x)) text_of_bytes(x) else paste(x, collapse = "\n"))
}

encode_text <- function(x) {
  if (is.raw(x)) return(rawToChar(x))
  # One whole number in a list is what it is by itself; R takes long to make text of lists.
  if (is.list(x) && length(x) == 1L && is.integer(x[[1L]]) && !is.object(x[[1L]]) && length(x[[1L]]) == 1L) x <- x[[1L]]
  x <- as.character(x)
  if (length(x) == 1L && !is.na(x)) x else paste(x, collapse = "\n")
}

encode_bytes <- function(x) if (is.raw(x)) x else encode_text(x)

decode_text <- function(x) if (is.raw(x)) text_of_bytes(x) else x

decode_json <- function(x) {
  tryCatch(
    from_json(x),
    HTTPError = stop,
    error = function(e) raise(state$http_error$bad_request(body = conditionMessage(e)))
  )
}

content_handlers_factory <- function() {
  # Kept as a list, not as an environment: looking a name up in an environment keeps it in memory for ever, and names
  # come from callers here.
  handlers <- list()
  .key <- function(content_type) tolower(trimws(sub(";.*$", "", content_type)))
  set_encode <- function(content_type, FUN) {
    handlers[[.key(content_type)]]$encode <<- match.fun(FUN)
    invisible(self)
  }
  set_decode <- function(content_type, FUN) {
    handlers[[.key(content_type)]]$decode <<- match.fun(FUN)
    invisible(self)
  }
  get_encode <- function(content_type) {
    if (!is_string(content_type)) {
      message <- "500 Internal Server Error: can't encode the body - invalid 'content_type'"
      raise(state$http_error$internal_server_error(body = base::list(error = message)))
    }
    found <- handlers[[.key(content_type)]]
    if (is.null(found$encode)) {
      message <- paste0("500 Internal Server Error: can't encode body with content_type = '", .key(content_type), "'")
      raise(state$http_error$internal_server_error(body = base::list(error = message)))
    }
    found$encode
  }
  get_decode <- function(content_type) {
    if (!is_string(content_type)) {
      raise(state$http_error$unsupported_media_type(
        body = "'content-type' header is not set/invalid - don't know how to decode the body"
      ))
    }
    found <- handlers[[.key(content_type)]]
    if (is.null(found$decode)) raise(state$http_error$unsupported_media_type())
    found$decode
  }
  list <- function() handlers[order(names(handlers))]
  reset <- function() {
    handlers <<- base::list(
      "application/json" = base::list(encode = to_json, decode = decode_json),
      "text/plain" = base::list(encode = encode_text, decode = decode_text),
      "text/html" = base::list(encode = encode_text),
      "text/css" = base::list(encode = encode_text),
      "application/javascript" = base::list(encode = encode_text),
      "image/png" = base::list(encode = encode_bytes)
    )
    invisible(self)
  }
  self <- environment()
  class(self) <- c("ContentHandlers", "RestRserveContentHandler")
  reset()
  self
}

nothing <- function(request, response) NULL

new_middleware <- function(process_request = nothing, process_response = nothing, id = "Middleware", name = id, ...) {
  if (length(formals(process_request)) != 2L || length(formals(process_response)) != 2L) {
    stop("middleware functions take two arguments: request and response")
  }
  self <- new.env(parent = emptyenv())
  self$id <- name
  self$process_request <- compiler::cmpfun(process_request)
  self$process_response <- compiler::cmpfun(process_response)
  class(self) <- "Middleware"
  self
}

new_encode_decode <- function(id = "EncodeDecodeMiddleware") {
  self <- new.env(parent = emptyenv())
  self$id <- id
  self$ContentHandlers <- state$content_handlers
  self$process_request <- function(request, response) request$.decode(self$ContentHandlers)
  self$process_response <- function(request, response) response$.encode(self$ContentHandlers)
  keys <- c("process_request", "process_response", "ContentHandlers")
  own <- mget(keys, self)
  # Whether nobody replaced anything, so that an application may do the same by itself.
  makeActiveBinding("plain", function(value) identical(mget(keys, self), own), self)
  class(self) <- c("EncodeDecodeMiddleware", "Middleware")
  self
}

is_form <- function(type) {
  is_string(type) && grepl("^(application/x-www-form-urlencoded|multipart/form-data)", type, ignore.case = TRUE)
}
