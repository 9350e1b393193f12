# `Router`: exact paths, then templates, then prefixes.
#
# Paths come from callers, so they are never looked up in environments (which would keep every one of them for ever),
# but matched against vectors of the few there are.

new_router <- function() {
  .exact <- character()
  .exact_ids <- list()
  # Prefixes with what stands at them, the longest first.
  .nodes <- list()
  .paths <- NULL

  add_path <- function(path, match = c("exact", "partial", "regex"), id) {
    match <- match.arg(match)
    if (!is_path(path)) stop("Assertion on 'path' failed: Must start with '/'.")
    bare <- if (nchar(path) > 1L) sub("/+$", "", path) else path
    add <- switch(match, exact = .add_exact, partial = .add_partial, regex = .add_regex)
    stored <- add(bare, id)
    .paths <<- c(.paths, stats::setNames(stored, match))
    invisible(id)
  }
  .add_exact <- function(path, id) {
    if (path %in% .exact) stop("Path already exists.")
    .exact <<- c(.exact, path)
    .exact_ids <<- c(.exact_ids, list(id))
    path
  }
  .add_partial <- function(path, id) {
    prefix <- if (path == "/") path else paste0(path, "/")
    node <- .node(prefix)
    if (!is.null(.nodes[[node]]$id)) stop("Prefix already exists.")
    .nodes[[node]]$id <<- id
    prefix
  }
  .add_regex <- function(path, id) {
    if (!grepl("\\{[^/{}]+\\}", path)) stop("Can't detect variables.")
    pattern <- path_pattern(path)
    node <- .node(sub("[^/]*\\{.*$", "", path))
    if (pattern$regex %in% vapply(.nodes[[node]]$patterns, `[[`, "", "regex")) stop("Regex already exists.")
    .nodes[[node]]$patterns <<- c(.nodes[[node]]$patterns, list(c(pattern, list(id = id))))
    path
  }
  # Where the node of a prefix is; made when there is none.
  .node <- function(prefix) {
    at <- match(prefix, vapply(.nodes, `[[`, "", "prefix"))
    if (!is.na(at)) return(at)
    nodes <- c(.nodes, list(list(prefix = prefix, patterns = list())))
    .nodes <<- nodes[order(-nchar(vapply(nodes, `[[`, "", "prefix")))]
    match(prefix, vapply(.nodes, `[[`, "", "prefix"))
  }
  match_path <- function(path) {
    at <- match(path, .exact)
    if (!is.na(at)) return(.exact_ids[[at]])
    if (!length(.nodes)) return(NULL)
    for (node in .nodes) {
      if (!startsWith(path, node$prefix)) next
      for (pattern in node$patterns) {
        found <- regmatches(path, regexec(pattern$regex, path))[[1L]]
        if (length(found)) {
          values <- stats::setNames(as.list(found[-1L]), pattern$variables)
          return(structure(pattern$id, parameters_path = values))
        }
      }
      if (!is.null(node$id)) return(node$id)
    }
    NULL
  }
  size <- function() length(.paths)

  self <- environment()
  makeActiveBinding("paths", function(value) .paths, self)
  class(self) <- "Router"
  self
}

# The regular expression of a template `/a/{x}/b/{y:type}`, and the names in it.
path_pattern <- function(path) {
  braces <- gregexpr("\\{[^/{}]+\\}", path)
  variables <- sub(":.*$", "", gsub("[{}]", "", regmatches(path, braces)[[1L]]))
  literals <- regmatches(path, braces, invert = TRUE)[[1L]]
  literals <- gsub("([].^$*+?()|\\\\{}[])", "\\\\\\1", literals, perl = TRUE)
  list(regex = paste0("^", paste(literals, collapse = "([^/]+)"), "/?$"), variables = variables)
}
