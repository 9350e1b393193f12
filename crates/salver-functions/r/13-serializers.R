# Forms of a function's value, by the names that `@serializer` takes. A serializer takes a function without arguments
# that makes the value, and gives the answer: so one that draws can open its device first.

# NULL stands for JSON with scalars unboxed, which the host makes.
serializer_of <- function(text) {
  if (is.null(text)) return(NULL)
  alias <- sub("[[:space:](].*$", "", text)
  options <- serializer_options(trimws(substr(text, nchar(alias) + 1L, nchar(text))))
  if (length(options) && !alias %in% c("contentType", "png", "jpeg", "svg", "bmp", "tiff", "pdf")) {
    needs_plumber(paste0("`@serializer ", alias, "` with options"))
  }
  switch(
    alias,
    unboxedJSON = NULL,
    json = textual("application/json", function(x) to_json_rows(x, unbox = FALSE)),
    text = textual("text/plain; charset=UTF-8", function(x) paste(as.character(x), collapse = "\n")),
    html = textual("text/html; charset=UTF-8", function(x) paste(as.character(x), collapse = "\n")),
    cat = textual("text/plain", function(x) printed(cat(unlist(x)))),
    print = textual("text/plain", function(x) printed(print(x))),
    format = textual("text/plain", function(x) paste(format(x), collapse = "\n")),
    csv = textual("text/csv; charset=UTF-8", function(x) delimited(x, ",")),
    tsv = textual("text/tab-separated-values; charset=UTF-8", function(x) delimited(x, "\t")),
    rds = textual("application/rds", function(x) serialize(x, NULL, ascii = FALSE)),
    octet = textual("application/octet-stream", octets),
    contentType = textual(if (is.null(options$type)) "application/octet-stream" else options$type, function(x) {
      if (is.raw(x)) x else paste(as.character(x), collapse = "\n")
    }),
    png = drawn("image/png", grDevices::png, options),
    jpeg = drawn("image/jpeg", grDevices::jpeg, options),
    svg = drawn("image/svg+xml", grDevices::svg, options),
    bmp = drawn("image/bmp", grDevices::bmp, options),
    tiff = drawn("image/tiff", grDevices::tiff, options),
    pdf = drawn("application/pdf", grDevices::pdf, options),
    needs_plumber(paste0("`@serializer ", alias, "`"))
  )
}

# `list(width = 400)`, as plumber has it, or `(width = 400)`.
serializer_options <- function(text) {
  if (!nzchar(text)) return(list())
  if (startsWith(text, "(")) text <- paste0("list", text)
  value <- eval(parse(text = text, keep.source = FALSE), globalenv())
  if (is.list(value)) value else list(type = value)
}

textual <- function(type, write) {
  force(type)
  force(write)
  function(make) list(200L, c("Content-Type" = type), write(make()), 0L)
}

# Evaluates with a device that draws into a temporary file, which is the answer.
drawn <- function(type, device, options) {
  force(type)
  force(device)
  force(options)
  function(make) {
    path <- tempfile()
    do.call(device, c(list(path), options))
    number <- grDevices::dev.cur()
    closed <- FALSE
    on.exit(if (!closed) {
      grDevices::dev.off(number)
      unlink(path)
    })
    value <- make()
    if (inherits(value, c("ggplot", "trellis", "grob"))) print(value)
    closed <- TRUE
    grDevices::dev.off(number)
    if (!file.exists(path)) stop("nothing was drawn")
    list(200L, c("Content-Type" = type), path, 2L)
  }
}

printed <- function(expression) paste(utils::capture.output(expression), collapse = "\n")

delimited <- function(x, separator) {
  lines <- utils::capture.output(utils::write.table(
    as.data.frame(x), sep = separator, row.names = FALSE, quote = separator == ",", qmethod = "double", na = ""
  ))
  paste0(paste(lines, collapse = "\n"), "\n")
}

octets <- function(x) if (is.raw(x)) x else if (is.character(x)) charToRaw(paste(x, collapse = "\n")) else
  stop("the octet serializer takes raw or text, not ", class(x)[1L])

# JSON as plumber's own serializer has it: data frames as arrays of rows.
to_json_rows <- function(x, unbox) {
  if (is.data.frame(x) && !requireNamespace("jsonlite", quietly = TRUE)) {
    rows <- lapply(seq_len(nrow(x)), function(i) lapply(as.list(x), function(column) {
      if (is.factor(column)) as.character(column[[i]]) else column[[i]]
    }))
    return(to_json_text(rows, unbox = TRUE))
  }
  if (!json_plain(x) && requireNamespace("jsonlite", quietly = TRUE)) {
    return(as.character(jsonlite::toJSON(x, auto_unbox = unbox)))
  }
  to_json_text(x, unbox, to_json_rows)
}
