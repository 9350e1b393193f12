# Files and bodies of bytes, for parameters of the types `bytes` and `upload`.

# The parameters that take them, each with whether it takes several and whether it takes them with their names.
file_parameters <- function(parameters, block) {
  taking <- Filter(function(parameter) parameter$kind == "bytes", parameters)
  lapply(taking, function(parameter) {
    type <- tolower(c(block$parameters[[parameter$name]]$type, "")[1L])
    list(name = parameter$name, list = parameter$list, whole = type == "upload")
  })
}

# The arguments with files as they are asked for. The body of a request that is no form is the value of those that are
# not among them.
with_files <- function(files, arguments, request) {
  body <- request$body
  for (file in files) {
    value <- arguments[[file$name]]
    if (!is.null(value)) {
      values <- if (file$list) as.list(value) else list(value)
    } else if (length(body) && !file$name %in% names(arguments)) {
      type <- request$headers[match("content-type", tolower(names(request$headers)))]
      type <- if (length(type) && !is.na(type)) unname(type)
      values <- list(list(filename = NULL, content_type = type, content = body))
    } else {
      next
    }
    taken <- lapply(values, if (file$whole) as_upload else as_bytes)
    arguments[[file$name]] <- if (file$list) taken else taken[[1L]]
  }
  arguments
}

# The bytes of a file, or of a text in base64. The server lets nothing else through.
as_bytes <- function(value) {
  if (is.list(value)) value <- value$content
  if (is.raw(value)) value else base64_decode(value)
}

# A file with what its sender says of it. It has `filename`, `content_type`, `size` and `content`, which is raw.
as_upload <- function(value) {
  content <- as_bytes(value)
  said <- if (is.list(value)) value[c("filename", "content_type")] else list(filename = NULL, content_type = NULL)
  names(said) <- c("filename", "content_type")
  structure(c(said, list(size = length(content), content = content)), class = "upload")
}

print_upload <- function(x, ...) {
  cat("<upload ", if (is.null(x$filename)) "without a name" else x$filename, ", ", x$size, " bytes>\n", sep = "")
  invisible(x)
}
