# JSON text of R values, and R values of JSON text, without a package.
#
# The encoder writes what jsonlite's `toJSON(x, dataframe = "columns", null = "null", na = "null")` writes for plain
# values (lists and vectors without classes), several times faster; what has a class goes to jsonlite where that is
# installed. The decoder gives what `parse_json` gives.

json_string <- function(x) {
  x <- enc2utf8(as.character(x))
  valid <- validUTF8(x)
  if (!all(valid)) x[!valid] <- iconv(x[!valid], "UTF-8", "UTF-8", sub = "byte")
  if (any(grepl("[\"\\\\[:cntrl:]]", x))) {
    x <- gsub("\\", "\\\\", x, fixed = TRUE)
    x <- gsub("\"", "\\\"", x, fixed = TRUE)
    x <- gsub("\n", "\\n", x, fixed = TRUE)
    x <- gsub("\r", "\\r", x, fixed = TRUE)
    x <- gsub("\t", "\\t", x, fixed = TRUE)
    x <- gsub("\b", "\\b", x, fixed = TRUE)
    x <- gsub("\f", "\\f", x, fixed = TRUE)
    for (code in c(1:31, 127L)) {
      sign <- intToUtf8(code)
      if (any(grepl(sign, x, fixed = TRUE))) x <- gsub(sign, sprintf("\\u%04x", code), x, fixed = TRUE)
    }
  }
  paste0("\"", x, "\"", recycle0 = TRUE)
}

# Numbers as jsonlite writes them: at most four decimals, fifteen significant digits; tiny and huge ones with exponents.
json_number <- function(x) {
  size <- abs(x)
  plain <- !is.finite(x) | x == 0 | size > 1e-5 & size < 1e15
  text <- character(length(x))
  text[plain] <- format(round(x[plain], 4L), digits = 15L, trim = TRUE, scientific = FALSE, drop0trailing = TRUE)
  if (!all(plain)) text[!plain] <- sprintf(ifelse(size[!plain] < 1, "%.5g", "%.15g"), x[!plain])
  text
}

# One text for each element of an atomic vector.
json_atoms <- function(x) {
  text <- switch(
    typeof(x),
    logical = ifelse(x, "true", "false"),
    integer = as.character(x),
    double = json_number(x),
    character = json_string(x),
    complex = json_string(x)
  )
  text[is.na(x) | (is.double(x) & !is.finite(x))] <- "null"
  text
}

json_plain <- function(x) {
  is.null(x) || (is.null(attributes(x)) || identical(names(attributes(x)), "names")) &&
    typeof(x) %in% c("logical", "integer", "double", "character", "list")
}

# `each` writes the elements of a list.
to_json_text <- function(x, unbox = TRUE, each = to_json_text) {
  if (is.null(x)) return("null")
  if (!json_plain(x)) return(json_classed(x, unbox))
  if (is.list(x)) {
    parts <- if (length(x)) vapply(x, each, "", unbox = unbox, USE.NAMES = FALSE) else character()
    keys <- names(x)
    if (is.null(keys)) return(paste0("[", paste(parts, collapse = ","), "]"))
    if (anyDuplicated(keys) || !all(nzchar(keys)) || anyNA(keys)) keys <- distinct_names(keys)
    return(paste0("{", paste0(json_string(keys), ":", parts, recycle0 = TRUE, collapse = ","), "}"))
  }
  parts <- json_atoms(x)
  if (unbox && length(parts) == 1L) return(parts)
  paste0("[", paste(parts, collapse = ","), "]")
}

# Names of which none is empty or comes twice, as jsonlite makes them.
distinct_names <- function(names) {
  nameless <- is.na(names) | !nzchar(names)
  names[nameless] <- which(nameless)
  make.unique(names)
}

json_classed <- function(x, unbox) {
  if (requireNamespace("jsonlite", quietly = TRUE)) {
    text <- jsonlite::toJSON(x, dataframe = "columns", auto_unbox = unbox, null = "null", na = "null")
    return(as.character(text))
  }
  if (inherits(x, "AsIs")) return(to_json_text(unclass(x), unbox = FALSE))
  if (is.factor(x) || inherits(x, c("Date", "POSIXt"))) return(to_json_text(as.character(x), unbox))
  if (is.data.frame(x)) {
    columns <- lapply(as.list(x), function(column) if (is.factor(column)) as.character(column) else column)
    return(to_json_text(columns, unbox = FALSE))
  }
  if (is.raw(x)) return(json_string(base64_encode(x)))
  if (is.matrix(x)) return(paste0("[", paste(apply(x, 1L, to_json_text, unbox = FALSE), collapse = ","), "]"))
  if (is.object(x) || !is.null(attributes(x))) {
    keys <- names(x)
    attributes(x) <- NULL
    names(x) <- keys
    return(to_json_text(x, unbox))
  }
  stop("no JSON for a value of type ", typeof(x))
}

# Decodes with jsonlite where it is installed, else here. `simplify = FALSE` keeps arrays lists; otherwise those of
# scalars are vectors, and no others: rows stay lists of lists, as RestRserve has them.
from_json_text <- function(text, simplify = TRUE) {
  if (requireNamespace("jsonlite", quietly = TRUE)) {
    return(jsonlite::parse_json(
      text, simplifyVector = simplify, simplifyDataFrame = FALSE, simplifyMatrix = FALSE
    ))
  }
  value <- json_parse(text)
  if (simplify) json_simplify(value) else value
}

# Arrays of scalars become vectors.
json_simplify <- function(x) {
  if (!is.list(x) || !length(x)) return(x)
  scalar <- vapply(x, function(v) !is.list(v), TRUE)
  if (!is.null(names(x)) || !all(scalar)) return(lapply(x, json_simplify))
  unlist(lapply(x, function(v) if (is.null(v)) NA else v))
}

json_parse <- function(text) {
  tokens <- json_tokens(text)
  at <- 1L
  value <- function() {
    token <- tokens[at]
    at <<- at + 1L
    first <- substr(token, 1L, 1L)
    if (is.na(token)) stop("parse error: premature EOF", call. = FALSE)
    switch(
      first,
      "{" = object(),
      "[" = array(),
      "\"" = json_unescape(token),
      "t" = TRUE,
      "f" = FALSE,
      "n" = NULL,
      json_parse_number(token)
    )
  }
  expect <- function(sign) {
    if (!identical(tokens[at], sign)) stop("parse error: '", sign, "' expected, not '", tokens[at], "'", call. = FALSE)
    at <<- at + 1L
  }
  object <- function() {
    keys <- character()
    values <- list()
    if (identical(tokens[at], "}")) {
      at <<- at + 1L
      return(structure(list(), names = character()))
    }
    repeat {
      key <- tokens[at]
      if (!startsWith(key, "\"")) stop("parse error: a key expected, not '", key, "'", call. = FALSE)
      at <<- at + 1L
      expect(":")
      keys <- c(keys, json_unescape(key))
      values <- c(values, list(value()))
      if (!identical(tokens[at], ",")) break
      at <<- at + 1L
    }
    expect("}")
    names(values) <- keys
    values
  }
  array <- function() {
    values <- list()
    if (identical(tokens[at], "]")) {
      at <<- at + 1L
      return(values)
    }
    repeat {
      values <- c(values, list(value()))
      if (!identical(tokens[at], ",")) break
      at <<- at + 1L
    }
    expect("]")
    values
  }
  result <- value()
  if (at <= length(tokens)) stop("parse error: trailing garbage", call. = FALSE)
  result
}

json_tokens <- function(text) {
  pattern <- "\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|[][{},:]"
  found <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1L]]
  rest <- gsub(pattern, "", text, perl = TRUE)
  if (grepl("[^ \t\r\n]", rest)) stop("lexical error: invalid char in json text.", call. = FALSE)
  found
}

json_parse_number <- function(token) {
  number <- suppressWarnings(as.numeric(token))
  if (is.na(number)) stop("parse error: a value expected, not '", token, "'", call. = FALSE)
  if (!grepl("[.eE]", token) && abs(number) <= .Machine$integer.max) as.integer(number) else number
}

json_unescape <- function(token) {
  text <- substr(token, 2L, nchar(token) - 1L)
  if (!grepl("\\", text, fixed = TRUE)) return(text)
  parts <- regmatches(text, gregexpr("\\\\u[0-9a-fA-F]{4}|\\\\.|[^\\\\]+", text, perl = TRUE))[[1L]]
  escaped <- startsWith(parts, "\\")
  unicode <- startsWith(parts, "\\u")
  simple <- c(n = "\n", t = "\t", r = "\r", b = "\b", f = "\f")
  for (i in which(escaped & !unicode)) {
    sign <- substr(parts[i], 2L, 2L)
    parts[i] <- if (sign %in% names(simple)) simple[[sign]] else sign
  }
  codes <- strtoi(substr(parts, 3L, 6L), 16L)
  for (i in which(unicode)) {
    code <- codes[i]
    if (code >= 0xD800L && code < 0xDC00L && i < length(parts) && unicode[i + 1L]) {
      code <- 0x10000L + (code - 0xD800L) * 0x400L + (codes[i + 1L] - 0xDC00L)
      parts[i + 1L] <- ""
      codes[i + 1L] <- -1L
    }
    parts[i] <- if (code < 0L) "" else intToUtf8(code)
  }
  paste(parts, collapse = "")
}
