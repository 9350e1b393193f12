# Plain functions: what a file without an application offers, and calls of them.

# Kinds of parameters, by the names plumber and R have for types.
parameter_kinds <- c(
  bool = "boolean", boolean = "boolean", logical = "boolean", int = "integer", integer = "integer",
  dbl = "number", double = "number", float = "number", number = "number", numeric = "number",
  chr = "text", character = "text", str = "text", string = "text", text = "text",
  list = "object", object = "object", df = "object", "data.frame" = "object",
  bytes = "bytes", file = "bytes", raw = "bytes", upload = "bytes"
)

# The endpoints of a file: its annotated functions, or all of its functions. Each is a list with what the offer says
# and, beside it, what a call needs: the function and how its value is written.
function_endpoints <- function(blocks, names_in_file, env) {
  routed <- Filter(function(block) length(block$routes) > 0L, blocks)
  if (length(routed)) return(unlist(lapply(routed, block_endpoints, env = env), recursive = FALSE))
  documented <- stats::setNames(blocks, vapply(blocks, function(block) if (is.null(block$name)) "" else block$name, ""))
  names_in_file <- unique(names_in_file[!startsWith(names_in_file, ".")])
  functions <- Filter(function(name) is.function(get0(name, env, inherits = FALSE)), names_in_file)
  lapply(functions, function(name) {
    block <- documented[[name]]
    endpoint_of(get(name, env), name, NULL, NULL, if (is.null(block)) empty_block() else block)
  })
}

block_endpoints <- function(block, env) {
  fn <- if (is.null(block$name)) eval(block$expression, env) else get(block$name, env)
  if (!is.function(fn)) stop("line ", block$line, ": an annotation with a route must stand above a function")
  name <- if (is.null(block$name)) "" else block$name
  lapply(block$routes, function(route) {
    # Lists in a path, and parameters that are a part of a segment.
    segments <- strsplit(route$path, "/", fixed = TRUE)[[1L]]
    whole <- grepl("^<[^<>:]+(:[[:alnum:]]+)?>$", segments) | !grepl("[<>]", segments)
    if (!all(whole)) needs_plumber(paste0("line ", block$line, ": the path `", route$path, "`"))
    endpoint_of(fn, name, route$method, route$path, block)
  })
}

endpoint_of <- function(fn, name, method, path, block) {
  fn <- compiler::cmpfun(fn)
  special <- if (is.null(path)) character() else c("req", "res")
  arguments <- formals(args(fn))
  names_given <- setdiff(names(arguments), c("...", special))
  tested <- tested_by_missing(body(fn))
  in_path <- path_parameters(path)
  parameters <- lapply(names_given, function(key) {
    said <- block$parameters[[key]]
    typed <- in_path[[key]]
    type <- if (!is.null(said$type)) said$type else if (!is.null(typed)) typed else ""
    kind <- parameter_kind(type)
    frame <- type %in% c("df", "data.frame")
    list(
      name = key, kind = kind, list = isTRUE(said$list) || frame,
      required = identical(arguments[[key]], quote(expr = )) && !key %in% tested || isTRUE(said$required),
      # Whether it may be a table, which the host makes a data frame of.
      table = frame || kind %in% c("any", "object") && !isTRUE(said$list), description = said$description
    )
  })
  # Where it stands among the others does not matter: what it takes is given by name.
  if ("..." %in% names(arguments)) parameters <- c(parameters, list(dots))
  frames <- Filter(function(key) isTRUE(block$parameters[[key]]$type %in% c("df", "data.frame")), names_given)
  list(
    "function" = name, method = method, path = path, parameters = parameters, summary = block$summary,
    description = block$description, pure = block$pure, result = block$result, vectorized = block$vectorized,
    call = fn, frames = frames, numbers = names_given[vapply(parameters[seq_along(names_given)], is_number, TRUE)], files = file_parameters(parameters, block),
    wants = intersect(special, names(arguments)), write = serializer_of(block$serializer),
    # Whether its first argument may be given without a name.
    leads = identical(names(arguments)[1L], names_given[1L])
  )
}

# Whether a parameter takes a number, which is no integer then, whatever it is written as.
is_number <- function(parameter) parameter$kind == "number"

# `...` in the offer: it takes what no other parameter is called.
dots <- list(name = "...", kind = "any", list = FALSE, required = FALSE, table = FALSE, description = NULL)

# The parameters that a function looks for with `missing()`, which may be absent for that reason.
tested_by_missing <- function(code) {
  if (!is.call(code) || identical(code[[1L]], quote(`function`))) return(NULL)
  if (identical(code[[1L]], quote(missing)) && length(code) == 2L) return(as.character(code[[2L]]))
  unlist(lapply(as.list(code), function(part) if (!missing(part)) tested_by_missing(part)))
}

parameter_kind <- function(type) {
  kind <- parameter_kinds[tolower(type)]
  if (is.na(kind)) "any" else unname(kind)
}

# Types of the parameters in a path, by name: `<id:int>`, `{id}`.
path_parameters <- function(path) {
  if (is.null(path)) return(list())
  inner <- regmatches(path, gregexpr("<[^<>]+>|\\{[^{}]+\\}", path))[[1L]]
  inner <- gsub("[<>{}]", "", inner)
  types <- ifelse(grepl(":", inner, fixed = TRUE), gsub("[][]", "", sub("^[^:]*:", "", inner)), "")
  stats::setNames(as.list(types), sub(":.*$", "", inner))
}

# What the offer says of an endpoint.
endpoint_offer <- function(endpoint) {
  list(
    "function" = endpoint[["function"]], method = endpoint$method, path = endpoint$path, prefix = FALSE,
    parameters = lapply(endpoint$parameters, function(p) p[c("name", "kind", "list", "required", "table", "description")]),
    summary = endpoint$summary, description = endpoint$description, pure = endpoint$pure, result = endpoint$result,
    vectorized = endpoint$vectorized, request = length(endpoint$wants) > 0L,
    gathers = endpoint$vectorized && is.null(endpoint$write) && !endpoint$result %in% c("object", "bytes")
  )
}

# Calls a function with named arguments; the value goes back as it is, and is made JSON by the host, unless the
# function's annotation names another form.
call_function <- function(endpoint, arguments, request) {
  endpoint <- state$endpoints[[endpoint]]
  for (key in endpoint$frames) {
    if (!is.null(arguments[[key]])) arguments[[key]] <- frame_of_rows(arguments[[key]])
  }
  for (key in endpoint$numbers) {
    if (is.integer(arguments[[key]])) arguments[[key]] <- as.double(arguments[[key]])
  }
  if (length(endpoint$files)) arguments <- with_files(endpoint$files, arguments, request)
  if (length(endpoint$wants)) return(call_with_request(endpoint, arguments, request))
  if (!is.null(endpoint$write)) return(endpoint$write(function() do.call(endpoint$call, arguments)))
  list(200L, NULL, do.call(endpoint$call, arguments), 3L)
}

# Functions written for plumber take `req` and `res`.
call_with_request <- function(endpoint, arguments, request) {
  res <- new.env(parent = emptyenv())
  res$status <- 200L
  res$headers <- list()
  # A field of one name may be there several times, as cookies are.
  res$setHeader <- function(name, value) res$headers <- c(res$headers, stats::setNames(list(value), name))
  req <- do.call(rook_request, unname(request))
  req$bodyRaw <- request[[5L]]
  # Bytes need not be a text.
  delayedAssign("postBody", text_of_bytes(req$bodyRaw), assign.env = req)
  given <- list(req = req, res = res)
  # A caller can't take their place with an argument for `...`.
  arguments <- c(arguments[!names(arguments) %in% endpoint$wants], given[endpoint$wants])
  is_whole <- FALSE
  make <- function() {
    made <- do.call(endpoint$call, arguments)
    is_whole <<- identical(made, res)
    if (is_whole) "" else made
  }
  value <- if (is.null(endpoint$write)) list(200L, NULL, make(), 3L) else endpoint$write(make)
  # A response that is returned has its body as it is.
  if (is_whole) value <- list(200L, NULL, whole_body(res$body), 0L)
  value[[1L]] <- as.integer(res$status)
  if (length(res$headers)) value[[2L]] <- c(value[[2L]], vapply(res$headers, paste, "", collapse = ", "))
  value
}

whole_body <- function(body) {
  if (is.null(body)) raw() else if (is.raw(body)) body else paste(as.character(body), collapse = "\n")
}

# Rows (a list of named lists, as the host makes an array of objects) as a data frame; columns in the order in which
# they come up, NA where a row lacks one.
frame_of_rows <- function(rows) {
  if (is.data.frame(rows) || !is.list(rows)) return(rows)
  if (!is.null(names(rows))) return(as.data.frame(rows, stringsAsFactors = FALSE, optional = TRUE))
  # Arrays in place of objects have columns called as those of a matrix are.
  rows <- lapply(rows, function(row) {
    if (is.null(names(row)) && length(row)) stats::setNames(as.list(row), paste0("V", seq_along(row))) else row
  })
  columns <- unique(unlist(lapply(rows, names)))
  cells <- lapply(columns, function(column) {
    values <- lapply(rows, function(row) if (is.null(row[[column]])) NA else row[[column]])
    if (all(lengths(values) == 1L) && !any(vapply(values, is.list, TRUE))) unlist(values) else I(values)
  })
  names(cells) <- columns
  structure(cells, class = "data.frame", row.names = .set_row_names(length(rows)))
}
