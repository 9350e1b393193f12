# Texts of HTTP: escapes in paths and queries, dates, base64, media types of files.

# `%41` -> `A`; in queries and forms also `+` -> a space. Broken escapes stay as they are.
url_decode <- function(x, plus = FALSE) {
  if (plus && any(grepl("+", x, fixed = TRUE))) x <- gsub("+", " ", x, fixed = TRUE)
  coded <- grepl("%", x, fixed = TRUE)
  if (any(coded)) x[coded] <- vapply(x[coded], url_decode_one, "", USE.NAMES = FALSE)
  x
}

url_decode_one <- function(x) {
  bytes <- charToRaw(x)
  count <- length(bytes)
  digits <- match(bytes, charToRaw("0123456789abcdef")) - 1L
  upper <- match(bytes, charToRaw("ABCDEF")) + 9L
  digits[!is.na(upper)] <- upper[!is.na(upper)]
  out <- raw(count)
  kept <- 0L
  i <- 1L
  while (i <= count) {
    kept <- kept + 1L
    if (bytes[i] == 0x25 && i + 2L <= count && !is.na(digits[i + 1L]) && !is.na(digits[i + 2L])) {
      out[kept] <- as.raw(16L * digits[i + 1L] + digits[i + 2L])
      i <- i + 3L
    } else {
      out[kept] <- bytes[i]
      i <- i + 1L
    }
  }
  out <- out[seq_len(kept)]
  text <- rawToChar(out[out != 0])
  Encoding(text) <- "UTF-8"
  text
}

# `a=1&b=2` as a named list, without pairs that lack a key or a value.
parse_query <- function(text) {
  if (!nzchar(text)) return(list())
  pairs <- strsplit(text, "&", fixed = TRUE)[[1L]]
  at <- regexpr("=", pairs, fixed = TRUE)
  keys <- url_decode(substr(pairs, 1L, at - 1L), plus = TRUE)
  values <- url_decode(substr(pairs, at + 1L, 1000000000L), plus = TRUE)
  keep <- nzchar(keys) & nzchar(values)
  values <- as.list(values[keep])
  names(values) <- keys[keep]
  values
}

day_names <- c("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
month_names <- c("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

# Dates as HTTP writes them, whatever the locale.
to_http_date <- function(dtm) {
  if (is.null(dtm) || (length(dtm) == 1L && is.na(dtm))) return(NULL)
  if (is.numeric(dtm) && !inherits(dtm, "POSIXct")) dtm <- .POSIXct(dtm, tz = "GMT")
  time <- as.POSIXlt(as.POSIXct(dtm), tz = "GMT")
  sprintf(
    "%s, %02d %s %04d %02d:%02d:%02d GMT", day_names[time$wday + 1L], time$mday, month_names[time$mon + 1L],
    time$year + 1900L, time$hour, time$min, as.integer(time$sec)
  )
}

from_http_date <- function(x) {
  if (is.null(x)) return(NULL)
  pattern <- "^[A-Za-z]{3}, ([0-9]{2}) ([A-Za-z]{3}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT$"
  parts <- regmatches(x, regexec(pattern, x))[[1L]]
  month <- match(parts[3L], month_names)
  if (length(parts) != 7L || is.na(month)) stop("Parse date string failed.")
  number <- as.integer(parts[c(2L, 4:7)])
  ISOdatetime(number[2L], month, number[1L], number[3L], number[4L], number[5L], tz = "GMT")
}

base64_signs <- c(LETTERS, letters, 0:9, "+", "/")
# What each byte stands for.
base64_values <- match(0:255, utf8ToInt(paste(base64_signs, collapse = ""))) - 1L

base64_encode <- function(bytes) {
  if (is.character(bytes)) bytes <- charToRaw(bytes)
  count <- length(bytes)
  if (!count) return("")
  codes <- as.integer(c(bytes, raw((3L - count %% 3L) %% 3L)))
  groups <- matrix(codes, nrow = 3L)
  number <- groups[1L, ] * 65536L + groups[2L, ] * 256L + groups[3L, ]
  digits <- rbind(number %/% 262144L, number %/% 4096L %% 64L, number %/% 64L %% 64L, number %% 64L)
  signs <- base64_signs[digits + 1L]
  padding <- (3L - count %% 3L) %% 3L
  if (padding) signs[length(signs) + 1L - seq_len(padding)] <- "="
  paste(signs, collapse = "")
}

# The bytes of base64 text, or NULL when it is none.
base64_decode <- function(text) {
  bytes <- charToRaw(sub("[=[:space:]]+$", "", text, useBytes = TRUE))
  digits <- base64_values[as.integer(bytes) + 1L]
  if (anyNA(digits) || length(digits) %% 4L == 1L) return(NULL)
  padding <- (4L - length(digits) %% 4L) %% 4L
  groups <- matrix(c(digits, integer(padding)), nrow = 4L)
  number <- groups[1L, ] * 262144L + groups[2L, ] * 4096L + groups[3L, ] * 64L + groups[4L, ]
  bytes <- as.raw(rbind(number %/% 65536L, number %/% 256L %% 256L, number %% 256L))
  bytes[seq_len(length(bytes) - padding)]
}

media_types <- c(
  avif = "image/avif", bin = "application/octet-stream", bmp = "image/bmp", css = "text/css", csv = "text/csv",
  gif = "image/gif", gz = "application/gzip", htm = "text/html", html = "text/html", ico = "image/x-icon",
  jpeg = "image/jpeg", jpg = "image/jpeg", js = "text/javascript", json = "application/json",
  md = "text/markdown", mjs = "text/javascript", mp4 = "video/mp4", pdf = "application/pdf", png = "image/png",
  r = "text/plain", svg = "image/svg+xml", tar = "application/x-tar", tif = "image/tiff", tiff = "image/tiff",
  tsv = "text/tab-separated-values", ttf = "font/ttf", txt = "text/plain", wasm = "application/wasm",
  webp = "image/webp", woff = "font/woff", woff2 = "font/woff2", xml = "application/xml",
  yaml = "application/x-yaml", yml = "application/x-yaml", zip = "application/zip"
)

# The media type of a file from its name; files without an ending that is known are text.
guess_mime <- function(file_path, content_type = NULL) {
  if (!is.null(content_type)) return(content_type)
  ending <- tolower(sub("^.*\\.", "", basename(file_path)))
  type <- media_types[ending]
  if (!is.na(type)) return(unname(type))
  if (grepl(".", basename(file_path), fixed = TRUE)) "application/octet-stream" else "text/plain"
}

# A random UUID (version 4); from the system, so that the random numbers of user code stay as they are.
uuid <- function() {
  source <- file("/dev/urandom", "rb", raw = TRUE)
  on.exit(close(source))
  bytes <- readBin(source, "raw", 16L)
  bytes[7L] <- (bytes[7L] & as.raw(0x0f)) | as.raw(0x40)
  bytes[9L] <- (bytes[9L] & as.raw(0x3f)) | as.raw(0x80)
  digits <- paste(format(bytes), collapse = "")
  paste(substring(digits, c(1L, 9L, 13L, 17L, 21L), c(8L, 12L, 16L, 20L, 32L)), collapse = "-")
}
