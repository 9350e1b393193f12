# `ETagMiddleware`.

# The CRC-32 that `digest::digest(x, algo = "crc32")` gives: of a file's bytes, or of an object serialized without the
# header (which names the version of R).
etag_hash <- function(body) {
  if (requireNamespace("digest", quietly = TRUE)) {
    if ("file" %in% names(body)) return(digest::digest(file = body[["file"]], algo = "crc32"))
    return(digest::digest(body, algo = "crc32"))
  }
  if ("file" %in% names(body)) {
    path <- body[["file"]]
    return(crc32(readBin(path, "raw", file.size(path))))
  }
  crc32(serialize(body, NULL, version = 2L)[-(1:14)])
}

# The checksum as digest writes it: hexadecimal, without zeros in front. R computes one when it writes a gzip file: it
# stands in the last bytes but four.
crc32 <- function(bytes) {
  path <- tempfile()
  on.exit(unlink(path))
  zipped <- gzfile(path, "wb", compression = 1L)
  writeBin(bytes, zipped)
  close(zipped)
  size <- file.size(path)
  checksum <- readBin(path, "raw", size)[size - 4:7]
  sub("^0+(?=.)", "", paste(format(checksum), collapse = ""), perl = TRUE)
}

etag_last_modified <- function(body) {
  if ("file" %in% names(body)) as.POSIXlt(file.info(body[["file"]])[["mtime"]], tz = "GMT")
  else as.POSIXlt(Sys.time(), tz = "GMT")
}

new_etag_middleware <- function(routes = "/", match = "partial", id = "ETagMiddleware", hash_function = etag_hash,
                                last_modified_function = etag_last_modified) {
  if (!is.function(hash_function)) stop("Assertion on 'hash_function' failed: Must be a function.")
  if (!is.function(last_modified_function)) stop("Assertion on 'last_modified_function' failed: Must be a function.")
  applies <- route_matcher(routes, match)
  self <- new_middleware(nothing, function(request, response) {
    if (applies(request$path) && response$status_code < 300L) {
      etag_apply(request, response, self$hash_function, self$last_modified_function)
    }
  }, id)
  self$hash_function <- hash_function
  self$last_modified_function <- last_modified_function
  class(self) <- c("ETagMiddleware", "Middleware")
  self
}

etag_apply <- function(request, response, hash_function, last_modified_function) {
  hash <- hash_function(response$body)
  modified <- as.POSIXct(last_modified_function(response$body))
  since <- function(name) {
    text <- request$get_header(name)
    if (is.null(text)) return(NULL)
    tryCatch(from_http_date(paste(text, collapse = ", ")), error = function(e) NULL)
  }
  holds <- function(tags) any(tags == "*") || hash %in% gsub("^W/|\"", "", tags)

  match <- request$get_header("if-match")
  unmodified <- since("if-unmodified-since")
  stale <- if (!is.null(match)) !holds(match) else !is.null(unmodified) && floor_second(modified) > unmodified
  if (stale) {
    response$body <- NULL
    response$set_content_type("text/plain")
    response$set_status_code(412L)
    return(invisible())
  }
  none_match <- request$get_header("if-none-match")
  modified_since <- since("if-modified-since")
  fresh <- if (!is.null(none_match)) holds(none_match)
  else !is.null(modified_since) && floor_second(modified) <= modified_since
  if (fresh) {
    response$body <- NULL
    response$set_content_type("text/plain")
    response$set_status_code(304L)
  } else {
    response$set_header("Last-Modified", to_http_date(modified))
    response$set_header("ETag", hash)
  }
}

# Header dates have whole seconds, times of files have not.
floor_second <- function(time) .POSIXct(floor(unclass(time)), tz = "GMT")
