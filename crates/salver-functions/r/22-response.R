# `Response`, and how one becomes an answer.

status_names <- c(
  "100" = "Continue", "101" = "Switching Protocols", "102" = "Processing", "200" = "OK", "201" = "Created",
  "202" = "Accepted", "203" = "Non-Authoritative Information", "204" = "No Content", "205" = "Reset Content",
  "206" = "Partial Content", "207" = "Multi-Status", "208" = "Already Reported", "226" = "IM Used",
  "300" = "Multiple Choices", "301" = "Moved Permanently", "302" = "Found", "303" = "See Other",
  "304" = "Not Modified", "305" = "Use Proxy", "307" = "Temporary Redirect", "308" = "Permanent Redirect",
  "400" = "Bad Request", "401" = "Unauthorized", "402" = "Payment Required", "403" = "Forbidden",
  "404" = "Not Found", "405" = "Method Not Allowed", "406" = "Not Acceptable",
  "407" = "Proxy Authentication Required", "408" = "Request Timeout", "409" = "Conflict", "410" = "Gone",
  "411" = "Length Required", "412" = "Precondition Failed", "413" = "Payload Too Large", "414" = "URI Too Long",
  "415" = "Unsupported Media Type", "416" = "Range Not Satisfiable", "417" = "Expectation Failed",
  "422" = "Unprocessable Entity", "423" = "Locked", "424" = "Failed Dependency", "426" = "Upgrade Required",
  "428" = "Precondition Required", "429" = "Too Many Requests", "431" = "Request Header Fields Too Large",
  "451" = "Unavailable For Legal Reasons", "500" = "Internal Server Error", "501" = "Not Implemented",
  "502" = "Bad Gateway", "503" = "Service Unavailable", "504" = "Gateway Timeout",
  "505" = "HTTP Version Not Supported", "507" = "Insufficient Storage", "508" = "Loop Detected",
  "511" = "Network Authentication Required"
)

status_text <- function(code) paste(code, status_names[as.character(code)])

# The header fields of a response that nobody set any on. The option is RestRserve's.
default_headers <- function() {
  server <- getOption("RestRserve.headers.server")
  if (is.null(server)) list() else list(Server = as.character(server))
}

response_object <- function() {
  .default_headers <- default_headers()
  .default_fields <- unlist(.default_headers)
  # Everything of the call before goes.
  .clear <- function(type) {
    body <<- NULL
    content_type <<- type
    headers <<- .default_headers
    status_code <<- 200L
    if (length(cookies)) cookies <<- list()
    encode <<- NULL
    .context <<- NULL
  }
  # Becomes what an error says. Its body is made text here: the middleware that encodes others need not be there, and a
  # content type of its own has its own encoder.
  .become <- function(other) {
    body <<- if (is.function(other$encode)) other$encode(other$body) else error_text(other)
    content_type <<- other$content_type
    headers <<- other$headers
    status_code <<- other$status_code
    cookies <<- other$cookies
    encode <<- identity
  }
  # Makes of the body what the content type says; once, so that nothing encodes it again.
  .encode <- function(handlers) {
    if (is.character(body) && is_file_body(body)) return(NULL)
    if (is.function(encode)) {
      body <<- encode(body)
      encode <<- NULL
    } else {
      # A type that is registered as it stands is found without reading it.
      known <- .subset2(handlers, "handlers")[[content_type]]$encode
      if (is.null(known)) known <- handlers$get_encode(content_type)
      body <<- known(body)
    }
    NULL
  }
  # The list that the host takes.
  .answer <- function() {
    if (is.function(encode)) .encode(NULL)
    if (is.character(body) && length(body) == 1L && !length(cookies) && is.null(names(body)) &&
      identical(headers, .default_headers)) {
      return(list(as.integer(status_code), c("Content-Type" = content_type, .default_fields), body, 0L))
    }
    answer_of_fields(status_code, content_type, headers, cookies, body)
  }

  reset <- function() {
    .clear("text/plain")
    invisible(self)
  }
  set_content_type <- function(content_type = "text/plain") {
    content_type <<- content_type
    invisible(self)
  }
  set_status_code <- function(code) {
    if (!is.numeric(code) || length(code) != 1L || is.na(code)) stop("Assertion on 'code' failed: Must be an integer.")
    status_code <<- as.integer(code)
    invisible(self)
  }
  has_header <- function(name) !is.null(headers[[name]])
  get_header <- function(name, default = NULL) {
    value <- headers[[name]]
    if (is.null(value)) default else value
  }
  set_header <- function(name, value) {
    if (header_settable(name, value)) headers[[name]] <<- as.character(value)
    invisible(self)
  }
  append_header <- function(name, value) {
    if (header_settable(name, value)) headers[[name]] <<- c(headers[[name]], as.character(value))
    invisible(self)
  }
  delete_header <- function(name) {
    headers[[name]] <<- NULL
    invisible(TRUE)
  }
  set_date <- function(dtm = Sys.time()) set_header("Date", to_http_date(dtm))
  unset_date <- function() delete_header("Date")
  set_cookie <- function(name, value, expires = NULL, max_age = NULL, domain = NULL, path = NULL, secure = NULL,
                         http_only = NULL) {
    cookie <- list(
      name = name, value = value, expires = expires, max_age = max_age, domain = domain, path = path,
      secure = secure, http_only = http_only
    )
    cookies[[name]] <<- cookie[!vapply(cookie, is.null, TRUE)]
    invisible(self)
  }
  unset_cookie <- function(name) {
    cookies[[name]] <<- NULL
    invisible(TRUE)
  }
  set_response <- function(status_code, body = NULL, content_type = self$content_type, headers = self$headers,
                           encode = NULL) {
    content_type <<- content_type
    set_status_code(status_code)
    body <<- body
    headers <<- headers
    encode <<- encode
    invisible(self)
  }

  self <- environment()
  makeActiveBinding("context", function(value) {
    if (!missing(value)) .context <<- value
    else if (is.null(.context)) .context <<- new.env(parent = emptyenv())
    .context
  }, self)
  makeActiveBinding("status", function(value) status_text(status_code), self)

  # What nearly every call touches stands behind all else: the variables of a frame are searched from its last on.
  .context <- NULL
  encode <- NULL
  cookies <- list()
  headers <- .default_headers
  status_code <- 200L
  content_type <- "text/plain"
  body <- NULL
  set_body <- function(body) {
    body <<- body
    invisible(self)
  }
  class(self) <- "Response"
  self
}

# The body of an error as its content type has it; as text where nothing is registered for that.
error_text <- function(response) {
  if (is.raw(response$body)) return(response$body)
  key <- tolower(trimws(sub(";.*$", "", response$content_type)))
  encode <- state$content_handlers$handlers[[key]]$encode
  if (is.function(encode)) encode(response$body) else encode_text(response$body)
}

new_response <- function(body = NULL, content_type = "text/plain", headers = default_headers(), status_code = 200L,
                         encode = NULL, ...) {
  self <- response_object()
  self$body <- body
  self$content_type <- content_type
  self$headers <- headers
  self$status_code <- as.integer(status_code)
  self$encode <- encode
  self
}

header_settable <- function(name, value) {
  if (!is_string(name)) stop("Assertion on 'name' failed: Must be a string.")
  if (!is.character(value) && !is.numeric(value) || anyNA(value)) stop("Assertion on 'value' failed: Must be text.")
  lower <- tolower(name)
  if (lower %in% c("content-type", "content-length")) {
    warning("'", name, "' header is not accepted by Rserve. Use 'content_type' field instead.", call. = FALSE)
    return(FALSE)
  }
  if (lower == "set-cookie") {
    warning("Use 'set_cookie' method instread of set 'Set-cookie' header.", call. = FALSE)
    return(FALSE)
  }
  TRUE
}

format_cookie <- function(cookie) {
  parts <- c(
    paste0(cookie$name, "=", cookie$value),
    if (!is.null(cookie$expires)) paste0("Expires=", to_http_date(cookie$expires)),
    if (!is.null(cookie$max_age)) paste0("Max-Age=", cookie$max_age),
    if (!is.null(cookie$path)) paste0("Path=", cookie$path),
    if (!is.null(cookie$domain)) paste0("Domain=", cookie$domain),
    if (isTRUE(cookie$secure)) "Secure",
    if (isTRUE(cookie$http_only)) "HttpOnly"
  )
  paste(parts, collapse = "; ")
}

# Header fields of a response, without its content type.
response_fields <- function(headers, cookies) {
  fields <- vapply(headers, paste, "", collapse = ", ")
  if (length(cookies)) {
    set <- vapply(cookies, format_cookie, "", USE.NAMES = FALSE)
    fields <- c(fields, stats::setNames(set, rep("Set-Cookie", length(set))))
  }
  fields
}

is_file_body <- function(body) {
  key <- names(body)
  !is.null(key) && (key[1L] == "file" || key[1L] == "tmpfile")
}

answer_of_fields <- function(status, type, headers, cookies, body) {
  kind <- 0L
  if (is.character(body) && is_file_body(body)) {
    kind <- if (names(body)[1L] == "file") 1L else 2L
    body <- unname(body[1L])
  } else if (is.character(body)) {
    body <- paste(body, collapse = "\n")
  } else if (is.null(body)) {
    body <- raw()
  } else if (!is.raw(body)) {
    body <- "500 Internal Server Error (body is not character or raw)"
    type <- "text/plain"
    status <- 500L
  }
  list(as.integer(status), c("Content-Type" = type, response_fields(headers, cookies)), body, kind)
}

print_response <- function(x, ...) {
  cat("<RestRserve Response>\n  status code: ", x$status, "\n  content-type: ", x$content_type, "\n", sep = "")
  for (name in names(x$headers)) cat("  ", name, ": ", paste(x$headers[[name]], collapse = ", "), "\n", sep = "")
  invisible(x)
}
