# Requests in the shape httpuv gives them to plumber: a Rook environment.

rook_request <- function(method, path, query, headers, body, address) {
  req <- new.env(parent = emptyenv())
  req$REQUEST_METHOD <- method
  req$SCRIPT_NAME <- ""
  req$PATH_INFO <- path
  req$QUERY_STRING <- if (nzchar(query)) paste0("?", query) else ""
  keys <- tolower(names(headers))
  host <- headers[match("host", keys)]
  host <- if (length(host) && !is.na(host)) host else "127.0.0.1"
  port <- sub("^.*:([0-9]+)$", "\\1", host)
  req$SERVER_NAME <- sub(":[0-9]+$", "", host)
  req$SERVER_PORT <- if (port == host) "80" else port
  req$HTTP_HOST <- unname(host)
  req$REMOTE_ADDR <- sub(":[0-9]+$", "", address)
  req$REMOTE_PORT <- if (grepl(":[0-9]+$", address)) sub("^.*:", "", address) else ""
  req$rook.version <- "1.1-0"
  req$rook.url_scheme <- "http"
  req$rook.input <- rook_input(body)
  req$rook.errors <- rook_errors
  req$httpuv.version <- structure(list(c(1L, 6L, 9L)), class = c("package_version", "numeric_version"))
  named <- split(unname(headers), factor(keys, sort(unique(keys), method = "radix")))
  values <- vapply(names(named), function(key) paste(named[[key]], collapse = if (key == "cookie") "; " else ","), "")
  req$HEADERS <- values
  for (key in names(values)) assign(paste0("HTTP_", toupper(gsub("-", "_", key, fixed = TRUE))), values[[key]], req)
  if (length(type <- headers[match("content-type", keys)]) && !is.na(type)) req$CONTENT_TYPE <- unname(type)
  if (length(body)) req$CONTENT_LENGTH <- as.character(length(body))
  req
}

rook_errors <- list(
  cat = function(..., sep = " ", fill = FALSE, labels = NULL) {
    cat(..., sep = sep, fill = fill, labels = labels, file = stderr())
  }
)

# A body that is read from its begin on.
rook_input <- function(bytes) {
  at <- 0L
  read <- function(l = -1L) {
    left <- length(bytes) - at
    count <- if (l < 0L) left else min(l, left)
    taken <- bytes[seq_len(count) + at]
    at <<- at + count
    taken
  }
  read_lines <- function(n = -1L) {
    connection <- rawConnection(read())
    on.exit(close(connection))
    readLines(connection, n, warn = FALSE)
  }
  rewind <- function() {
    at <<- 0L
    invisible()
  }
  list(read = read, read_lines = read_lines, rewind = rewind, close = function() invisible())
}
