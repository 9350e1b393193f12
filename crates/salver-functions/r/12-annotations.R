# Annotations: comments `#* @get /fib` above functions, in plumber's words.

route_words <- c("get", "post", "put", "delete", "head", "options", "patch")

# The same with those that take every method: plumber's and Python's.
routing_words <- c(route_words, "use", "any")

# What only the real package does. A file that says one of them must not be served without it: a filter may be its
# log-in.
plumber_words <- c("filter", "preempt", "plumber", "assets", "static", "parser")
# Those of them that may decide who is let in.
access_words <- c("filter", "preempt", "plumber")

empty_block <- function() {
  list(
    name = NULL, expression = NULL, line = 0L, routes = list(), parameters = list(), serializer = NULL, pure = FALSE,
    result = "any", vectorized = FALSE, summary = NULL, description = NULL
  )
}

is_annotation <- function(lines) grepl("^[[:space:]]*#['*]", lines)

# Whether the file is one for plumber, also where it would find nothing to serve: it serves no function by its name.
has_plumber_annotations <- function(lines) {
  words <- c(route_words, "use", plumber_words)
  pattern <- paste0("^[[:space:]]*#['*][[:space:]]*@(", paste(words, collapse = "|"), ")\\b")
  any(grepl(pattern, lines, ignore.case = TRUE))
}

# Refuses a file that says what only plumber does.
refuse_plumber_words <- function(lines) {
  pattern <- paste0("^[[:space:]]*#['*][[:space:]]*@(", paste(plumber_words, collapse = "|"), ")\\b")
  at <- grep(pattern, lines, ignore.case = TRUE)
  if (!length(at)) return(invisible())
  words <- regmatches(lines[at], regexpr("@[[:alpha:]]+", lines[at]))
  deciding <- tolower(words) %in% paste0("@", access_words)
  first <- if (any(deciding)) which(deciding)[1L] else 1L
  needs_plumber(paste0("line ", at[first], ": `", words[first], "`"), any(deciding))
}

# Refuses a file that sets options by which only plumber protects it.
refuse_plumber_options <- function() {
  for (name in c("sharedSecret", "maxRequestSize")) {
    if (!is.null(plumber_option(name))) needs_plumber(paste0("the option `plumber.", name, "`"), TRUE)
  }
}

# What of `req` and `res` only plumber provides: read without it, it is NULL, and a function would go on with that.
plumber_fields <- list(
  req = c("args", "argsBody", "argsPath", "argsQuery", "body", "cookies", "pr", "session"),
  res = c("removeCookie", "serializer", "setCookie", "toResponse")
)

# Refuses a file that uses one of them, unless it sets it itself.
refuse_plumber_fields <- function(parsed) {
  set <- fields_in_code(parsed, TRUE)
  used <- setdiff(fields_in_code(parsed, FALSE), set)
  if (length(used)) needs_plumber(paste0("`", used[1L], "`"))
}

# The fields of plumber that the code has as `req$cookies`: those that it assigns, or all.
fields_in_code <- function(code, assigned) {
  if (is.expression(code) || is.pairlist(code)) code <- as.list(code)
  if (is.list(code)) return(unlist(lapply(code, function(part) if (!missing(part)) fields_in_code(part, assigned))))
  if (!is.call(code)) return(NULL)
  place <- code
  if (assigned) place <- if (as.character(code[[1L]])[1L] %in% c("<-", "=", "<<-")) code[[2L]]
  c(field_of_plumber(place), fields_in_code(as.list(code), assigned))
}

field_of_plumber <- function(code) {
  if (!is.call(code) || length(code) != 3L || !is.name(code[[1L]]) || !is.name(code[[2L]])) return(NULL)
  if (!as.character(code[[1L]]) %in% c("$", "[[")) return(NULL)
  field <- code[[3L]]
  if (!is.name(field) && !is.character(field)) return(NULL)
  if (as.character(field) %in% plumber_fields[[as.character(code[[2L]])]]) paste0(code[[2L]], "$", field)
}

# An option of plumber, or the environment variable that stands for it, as newer versions of the package have them.
plumber_option <- function(name, default = NULL) {
  value <- getOption(paste0("plumber.", name))
  if (!is.null(value)) return(value)
  value <- Sys.getenv(paste0("PLUMBER_", toupper(name)))
  if (nzchar(value)) value else default
}

# `decides` says whether it is about who is let in.
needs_plumber <- function(what, decides = FALSE) {
  message <- paste0(what, " needs the package plumber, which is not installed (Debian: r-cran-plumber)")
  if (decides) refuse(message)
  stop(message, call. = FALSE)
}

# Refuses a file that asks for what would not hold, so that the server also ends the version before it.
refuse <- function(message) {
  stop(structure(class = c("salver_refusal", "error", "condition"), list(message = message, call = NULL)))
}

# The annotated expressions of a file, in order. `parsed` was made with its source kept.
annotation_blocks <- function(lines, parsed) {
  refs <- attr(parsed, "srcref")
  if (is.null(refs)) return(list())
  marked <- is_annotation(lines)
  blocks <- lapply(seq_along(parsed), function(i) {
    line <- refs[[i]][1L]
    first <- line
    while (first > 1L && (marked[first - 1L] || !nzchar(trimws(lines[first - 1L])))) first <- first - 1L
    above <- lines[seq_len(line - first) + first - 1L]
    above <- above[nzchar(trimws(above))]
    if (!length(above)) return(NULL)
    block <- read_block(trimws(sub("^[[:space:]]*#['*]", "", above)))
    block$name <- assigned_name(parsed[[i]])
    block$expression <- parsed[[i]]
    block$line <- line
    block
  })
  Filter(Negate(is.null), blocks)
}

# The name that an expression assigns to at the top, or NULL.
assigned_name <- function(expression) {
  if (!is.call(expression) || length(expression) != 3L) return(NULL)
  if (!as.character(expression[[1L]])[1L] %in% c("<-", "=", "<<-")) return(NULL)
  target <- expression[[2L]]
  if (is.name(target) || is.character(target)) as.character(target)
}

read_block <- function(lines) {
  block <- empty_block()
  tagged <- startsWith(lines, "@")
  words <- sub("^@([[:alnum:]_]+).*$", "\\1", lines)
  rests <- trimws(sub("^@[[:alnum:]_]+", "", lines))
  # Lines that follow a tag without one of their own go on with it, but for tags of the whole file.
  prose <- lines[cumsum(tagged & !startsWith(words, "api")) == 0L & !tagged & nzchar(lines)]
  if (length(prose)) block$summary <- prose[1L]
  if (length(prose) > 1L) block$description <- paste(prose[-1L], collapse = "\n")
  for (i in which(tagged)) {
    word <- words[i]
    rest <- rests[i]
    if (word %in% routing_words) {
      # A route without a method takes all of them.
      method <- if (word %in% route_words) toupper(word)
      block$routes <- c(block$routes, list(list(method = method, path = sub("[[:space:]].*$", "", rest))))
    } else if (word == "param") {
      parameter <- read_parameter(rest)
      block$parameters[[parameter$name]] <- parameter
    } else if (word == "serializer") {
      block$serializer <- rest
    } else if (word %in% c("html", "json", "png", "jpeg", "svg")) {
      block$serializer <- word
    } else if (word == "pure") {
      block$pure <- TRUE
    } else if (word == "vectorized") {
      block$vectorized <- TRUE
    } else if (word == "return") {
      # Only a type that stands alone: other comments have prose there.
      block$result <- parameter_kind(gsub("[][]", "", rest))
    } else if (word == "description") {
      block$description <- paste(c(block$description, rest), collapse = "\n")
    }
  }
  block
}

# `name:type* what it is`; `name:[type]` takes a list.
read_parameter <- function(text) {
  head <- sub("[[:space:]].*$", "", text)
  description <- trimws(substr(text, nchar(head) + 1L, nchar(text)))
  required <- endsWith(head, "*")
  head <- sub("\\*$", "", head)
  type <- if (grepl(":", head, fixed = TRUE)) sub("^[^:]*:", "", head)
  many <- !is.null(type) && grepl("^\\[.*\\]$", type)
  list(
    name = sub(":.*$", "", head), type = if (!is.null(type)) gsub("[][]", "", type), list = many, required = required,
    description = if (nzchar(description)) description
  )
}

# What the file says of itself: `#* @apiTitle`, `#* @apiDescription`.
file_words <- function(lines) {
  said <- function(word) {
    pattern <- paste0("^[[:space:]]*#['*][[:space:]]*@", word, "[[:space:]]+(.*)$")
    found <- grep(pattern, lines, value = TRUE)
    if (length(found)) sub(pattern, "\\1", found[1L])
  }
  list(title = said("apiTitle"), description = said("apiDescription"))
}
