# RestRserve's public interface, written from its documentation: `Request`.
#
# An object is the frame of the function that makes it: its fields and methods are the variables there. A worker has
# one request and one response; they are filled again for each call. What costs something to read from the wire (headers,
# cookies, forms) is read when it is first asked for.

# `Class$new(...)`, with the class's name.
generator <- function(classname, new) structure(list(classname = classname, new = new), class = "salver_generator")

headers_split_default <- c(
  "accept", "accept-charset", "accept-encoding", "accept-language", "accept-patch", "accept-ranges", "allow",
  "cache-control", "connection", "content-encoding", "content-language", "cookie", "if-match", "if-none-match",
  "pragma", "prefer", "te", "trailer", "transfer-encoding", "upgrade", "vary", "via"
)

# Header fields (a named vector, names in lower case) as RestRserve holds them: a list, some split at commas.
headers_of_fields <- function(fields) {
  if (!length(fields)) return(list())
  keys <- tolower(names(fields))
  headers <- split(unname(fields), factor(keys, unique(keys)))
  for (key in intersect(names(headers), getOption("RestRserve.headers.split", headers_split_default))) {
    separator <- if (key == "cookie") ";[ ]*" else ",[ ]*"
    headers[[key]] <- unlist(strsplit(headers[[key]], separator))
  }
  # A plain list: `split` gives one already, without a class.
  headers
}

cookies_of_headers <- function(headers) {
  pairs <- headers[["cookie"]]
  if (!length(pairs)) return(list())
  at <- regexpr("=", pairs, fixed = TRUE)
  pairs <- pairs[at > 1L]
  at <- at[at > 1L]
  cookies <- as.list(url_decode(substr(pairs, at + 1L, 1000000L)))
  names(cookies) <- substr(pairs, 1L, at - 1L)
  cookies
}

# No pairs, as JSON an object.
no_pairs <- structure(list(), names = character())

request_object <- function() {
  .parameters_body <- list()
  # NULL while the form was not read.
  .files <- NULL
  # What was not asked for yet, in a request from the wire: NULL.
  .headers <- list()
  .cookies <- list()
  .content_type <- NULL
  .context <- NULL
  .id <- NULL

  # Takes a call over. Everything of the one before goes.
  .accept <- function(call_method, call_path, query, fields, bytes) {
    method <<- call_method
    path <<- call_path
    body <<- bytes
    parameters_query <<- if (length(query)) query else no_pairs
    .fields <<- fields
    .form_bytes <<- bytes
    .default_type <<- "text/plain"
    if (!is.null(decode)) decode <<- NULL
    if (length(parameters_path)) parameters_path <<- list()
    if (.touched) .forget()
  }
  .forget <- function() {
    .touched <<- FALSE
    .parameters_body <<- list()
    .files <<- NULL
    .headers <<- NULL
    .cookies <<- NULL
    .content_type <<- NULL
    .context <<- NULL
    .id <<- NULL
  }
  # Makes of the body what its media type says.
  .decode <- function(handlers) {
    if (length(body) == 0L) return(NULL)
    if (is.function(decode)) {
      body <<- decode(body)
    } else if (!is_form(content_type) && (is.raw(body) || !is.null(content_type))) {
      body <<- handlers$get_decode(content_type)(body)
    }
    NULL
  }
  .read_form <- function() {
    form <- form_of_body(.form_bytes, content_type)
    .touched <<- TRUE
    .parameters_body <<- form$values
    .files <<- form$files
  }

  set_id <- function(id = uuid()) {
    .touched <<- TRUE
    .id <<- id
    invisible(self)
  }
  reset <- function() {
    .accept("GET", "/", list(), NULL, NULL)
    parameters_query <<- list()
    .default_type <<- NULL
    .cookies <<- list()
    .touched <<- TRUE
    invisible(self)
  }
  get_header <- function(name, default = NULL) {
    value <- headers[[tolower(name)]]
    if (is.null(value)) default else value
  }
  get_param_body <- function(name) parameters_body[[name]]
  get_param_path <- function(name) parameters_path[[name]]
  get_file <- function(name) {
    part <- files[[name]]
    if (is.null(part)) return(NULL)
    structure(part_bytes(.form_bytes, part), filname = part$filename, "content-type" = part$content_type)
  }

  self <- environment()
  bind <- function(name, active) makeActiveBinding(name, active, self)
  bind("headers", function(value) {
    .touched <<- TRUE
    if (!missing(value)) .headers <<- value
    else if (is.null(.headers)) .headers <<- headers_of_fields(.fields)
    .headers
  })
  bind("cookies", function(value) {
    .touched <<- TRUE
    if (!missing(value)) .cookies <<- value
    else if (is.null(.cookies)) .cookies <<- cookies_of_headers(headers)
    .cookies
  })
  bind("content_type", function(value) {
    .touched <<- TRUE
    if (!missing(value)) .content_type <<- value
    else if (is.null(.content_type)) {
      type <- headers[["content-type"]]
      .content_type <<- if (is.null(type)) .default_type else type
    }
    .content_type
  })
  bind("parameters_body", function(value) {
    if (is.null(.files)) .read_form()
    if (!missing(value)) .parameters_body <<- value
    .parameters_body
  })
  bind("files", function(value) {
    if (is.null(.files)) .read_form()
    if (!missing(value)) .files <<- value
    .files
  })
  bind("context", function(value) {
    .touched <<- TRUE
    if (!missing(value)) .context <<- value
    else if (is.null(.context)) .context <<- new.env(parent = emptyenv())
    .context
  })
  bind("id", function(value) {
    if (!missing(value)) stop("request id is read only; use `set_id`")
    if (is.null(.id)) set_id()
    .id
  })
  bind("request_id", function(value) id)
  bind("date", function(value) from_http_date(headers[["date"]]))
  bind("accept", function(value) {
    accepted <- headers[["accept"]]
    if (is.null(accepted)) "*/*" else accepted
  })
  bind("accept_json", function(value) any(startsWith(accept, "application/json")))
  bind("accept_xml", function(value) any(startsWith(accept, "text/xml") | startsWith(accept, "application/xml")))

  # What nearly every call touches stands behind all else: the variables of a frame are searched from its last on.
  .form_bytes <- NULL
  # The type of a request that names none: text when it came from the wire.
  .default_type <- NULL
  # Header fields as they came.
  .fields <- NULL
  # Whether something that is read when it is first asked for was asked for or set since the call came.
  .touched <- TRUE
  decode <- NULL
  parameters_path <- list()
  parameters_query <- list()
  body <- NULL
  path <- "/"
  method <- "GET"
  get_param_query <- function(name) parameters_query[[name]]
  class(self) <- "Request"
  self
}

new_request <- function(path = "/", method = c(
                          "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"
                        ),
                        parameters_query = list(), parameters_body = list(), headers = list(), body = NULL,
                        cookies = list(), content_type = NULL, decode = NULL, ...) {
  method <- match.arg(method)
  if (!is_path(path)) stop("Assertion on 'path' failed: Must start with '/'.")
  if (length(headers)) names(headers) <- tolower(names(headers))
  self <- request_object()
  self$.accept(method, path, list(), NULL, NULL)
  self$parameters_query <- parameters_query
  self$.default_type <- NULL
  self$parameters_body <- parameters_body
  self$headers <- headers
  self$cookies <- cookies
  self$.content_type <- content_type
  self$decode <- decode
  self$body <- body
  self$.form_bytes <- body
  self
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)
is_path <- function(x) is_string(x) && startsWith(x, "/")

print_request <- function(x, ...) {
  cat("<RestRserve Request>\n", x$method, " ", x$path, "\n", sep = "")
  for (name in names(x$headers)) cat("  ", name, ": ", paste(x$headers[[name]], collapse = ", "), "\n", sep = "")
  invisible(x)
}
