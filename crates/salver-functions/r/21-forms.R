# Bodies of forms: `application/x-www-form-urlencoded` and `multipart/form-data`.

# The values and the files of a form; both empty for a body of another media type.
form_of_body <- function(bytes, content_type) {
  none <- list(values = list(), files = list())
  if (!length(bytes) || !is.raw(bytes) || !is_string(content_type)) return(none)
  type <- tolower(content_type)
  if (startsWith(type, "application/x-www-form-urlencoded")) {
    return(list(values = parse_query(text_of_bytes(bytes)), files = list()))
  }
  if (startsWith(type, "multipart/form-data")) return(parse_multipart(bytes, content_type))
  none
}

# The text of bytes of a caller; R's texts can't hold a zero.
text_of_bytes <- function(bytes) {
  if (length(grepRaw(as.raw(0), bytes, fixed = TRUE))) raise(state$http_error$bad_request())
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}

parse_multipart_boundary <- function(content_type) {
  if (!is_string(content_type)) stop("a content type expected")
  boundary <- sub("^.*boundary=\"?([^\";]+)\"?.*$", "\\1", content_type, ignore.case = TRUE)
  if (boundary == content_type || !nzchar(boundary)) stop("Boundary string not found.")
  boundary
}

parse_multipart <- function(bytes, content_type) {
  form <- list(values = list(), files = list())
  mark <- charToRaw(paste0("--", parse_multipart_boundary(content_type)))
  starts <- grepRaw(mark, bytes, fixed = TRUE, all = TRUE)
  for (i in seq_len(max(0L, length(starts) - 1L))) {
    from <- starts[i] + length(mark) + 2L
    to <- starts[i + 1L] - 3L
    part <- parse_multipart_part(bytes, from, to)
    if (is.null(part)) next
    if (is.null(part$filename)) {
      form$values[[part$name]] <- text_of_bytes(part_bytes(bytes, part))
    } else {
      form$files[[part$name]] <- part
      form$values[[part$name]] <- part$filename
    }
  }
  form
}

parse_multipart_part <- function(bytes, from, to) {
  blank <- grepRaw(as.raw(c(13L, 10L, 13L, 10L)), bytes, offset = from, fixed = TRUE)
  if (!length(blank) || blank > to) return(NULL)
  head <- text_of_bytes(bytes[from:(blank - 1L)])
  lines <- strsplit(head, "\r\n", fixed = TRUE)[[1L]]
  disposition <- grep("^content-disposition:", lines, ignore.case = TRUE, value = TRUE)
  if (!length(disposition)) return(NULL)
  quoted <- function(key) {
    found <- regmatches(disposition, regexec(paste0("[; ]", key, "=\"([^\"]*)\""), disposition))[[1L]]
    if (length(found) == 2L) found[2L]
  }
  name <- quoted("name")
  if (is.null(name) || !nzchar(name)) return(NULL)
  type <- grep("^content-type:", lines, ignore.case = TRUE, value = TRUE)
  list(
    name = name, filename = quoted("filename"),
    content_type = if (length(type)) trimws(sub("^[^:]*:", "", type[1L])),
    offset = blank + 4L, length = max(0L, to - blank - 3L)
  )
}

# The content of a part. Files may be large: they are cut out when they are asked for.
part_bytes <- function(bytes, part) bytes[seq_len(part$length) + (part$offset - 1L)]
