# `Application`.

application_methods <- c("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")

# Evaluates, and gives NULL, or the error that came. Does what `tryCatch(..., error = identity)` does, at a quarter of
# its price, with the same primitive; where an R does not have it so, `tryCatch` itself is used (`choose_guard`).
guard <- function(expression) {
  frame <- environment()
  .Internal(.addCondHands("error", list(NULL), frame, frame, FALSE))
  expression
  NULL
}

guard_slowly <- function(expression) {
  tryCatch({
    expression
    NULL
  }, error = function(e) list(e, NULL, NULL))
}

# The condition in what `guard` gave.
guarded_condition <- function(caught) {
  if (!is.null(caught[[1L]])) return(caught[[1L]])
  simpleError(geterrmessage(), caught[[2L]])
}

choose_guard <- function() {
  works <- tryCatch(
    is.null(guard(NULL)) && is.list(guard(stop("x"))) && is.list(guard(as.numeric(quote(x)))),
    error = function(e) FALSE
  )
  if (!works) guard <<- guard_slowly
}

# An error that a step returns counts as if it had been raised: otherwise a middleware that returns 401 would let
# everybody in.
heed <- function(value) if (is.environment(value) && inherits(value, "HTTPError")) raise(value)

application_object <- function() {
  HTTPError <- NULL
  logger <- NULL
  .middleware <- list()
  .routers <- list()
  .handlers <- list()
  .has_openapi <- FALSE
  .openapi_paths <- list()
  # What the middlewares do with requests and with responses.
  .before <- list()
  .after <- list()

  add_route <- function(path, method, FUN, match = c("exact", "partial", "regex"), ...) {
    match <- match.arg(match)
    if (!is_string(method) || !method %in% application_methods) {
      stop("Assertion on 'method' failed: Must be element of set {", paste(application_methods, collapse = ","), "}.")
    }
    if (!is.function(FUN) || length(formals(FUN)) != 2L) {
      stop("Assertion on 'FUN' failed: Must have exactly 2 formal arguments.")
    }
    id <- as.character(length(.handlers) + 1L)
    if (is.null(.routers[[method]])) .routers[[method]] <<- new_router()
    .routers[[method]]$add_path(path, match, id)
    .handlers[[id]] <<- compiler::cmpfun(FUN)
    if (match == "exact") {
      table <- .exact[[method]]
      paths <- .routers[[method]]$paths
      .exact[[method]] <<- list(
        paths = c(table$paths, unname(paths[length(paths)])), handlers = c(table$handlers, .handlers[[id]])
      )
    }
    docstring <- openapi_docstring(FUN)
    if (!is.null(docstring)) .openapi_paths <<- c(.openapi_paths, list(list(path, tolower(method), docstring)))
    invisible(id)
  }
  add_get <- function(path, FUN, match = c("exact", "partial", "regex"), ..., add_head = TRUE) {
    match <- match.arg(match)
    if (isTRUE(add_head)) add_route(path, "HEAD", FUN, match, ...)
    add_route(path, "GET", FUN, match, ...)
  }
  add_post <- function(path, FUN, match = c("exact", "partial", "regex"), ...) {
    add_route(path, "POST", FUN, match.arg(match), ...)
  }
  add_static <- function(path, file_path, content_type = NULL, ...) {
    if (!file.exists(file_path)) stop("Assertion on 'file_path' failed: File does not exist: '", file_path, "'.")
    file_path <- normalizePath(file_path)
    directory <- dir.exists(file_path)
    handler <- if (directory) static_directory(path, file_path, content_type, self)
    else static_file(file_path, content_type)
    add_get(path, handler, if (directory) "partial" else "exact", ...)
  }
  add_openapi <- function(path = "/openapi.yaml", file_path = "openapi.yaml", ...) {
    if (!file.exists(file_path)) {
      # Not written beside the application: what changes there makes it be loaded again.
      file_path <- tempfile(fileext = ".yaml")
      writeLines(openapi_text(.openapi_paths), file_path)
    }
    add_static(path, file_path, "application/x-yaml")
    .has_openapi <<- TRUE
    invisible(self)
  }
  add_swagger_ui <- function(path = "/swagger", path_openapi = "/openapi.yaml", use_cdn = TRUE,
                             path_swagger_assets = "/__swagger__/", file_path = "swagger-ui.html", ...) {
    if (!.has_openapi) stop("You should add OpenAPI first: call 'add_openapi' method before.")
    page <- tempfile(fileext = ".html")
    writeLines(swagger_page(path_openapi, if (!use_cdn) path_swagger_assets), page)
    if (!use_cdn) {
      if (!requireNamespace("swagger", quietly = TRUE)) stop("the package 'swagger' is needed with use_cdn = FALSE")
      add_static(path_swagger_assets, swagger::swagger_path())
    }
    add_static(path, page, "text/html")
    invisible(self)
  }
  append_middleware <- function(mw) {
    if (!inherits(mw, "Middleware")) stop("Assertion on 'mw' failed: Must inherit from class 'Middleware'.")
    .middleware <<- c(.middleware, list(mw))
    .prepare()
    invisible(length(.middleware))
  }

  # Takes the functions out of the middlewares; again before the first call, since they may be set until then. Gives
  # what runs a request.
  .prepare <- function() {
    .before <<- lapply(.middleware, function(mw) mw$process_request)
    .after <<- lapply(.middleware, function(mw) mw$process_response)
    if (length(.middleware) != 1L || !isTRUE(.middleware[[1L]]$plain)) return(.run)
    .content_handlers <<- .middleware[[1L]]$ContentHandlers
    .run_plain
  }
  # The handler of a request; raises 404 and 405.
  .find_handler <- function(request) {
    router <- .routers[[.subset2(request, "method")]]
    if (is.null(router)) raise(HTTPError$method_not_allowed())
    id <- router$match_path(.subset2(request, "path"))
    if (is.null(id)) raise(HTTPError$not_found())
    variables <- attr(id, "parameters_path")
    if (!is.null(variables)) request$parameters_path <- variables
    .handlers[[id]]
  }
  # Makes the response of an error.
  .fail <- function(caught, response) {
    condition <- guarded_condition(caught)
    if (inherits(condition, "HTTPError")) return(response$.become(condition$response))
    call <- conditionCall(condition)
    .subset2(logger, "error")(
      conditionMessage(condition),
      context = list(call = if (is.null(call)) "" else paste(deparse(call, nlines = 3L), collapse = " "))
    )
    response$.become(HTTPError$internal_server_error())
  }
  # Runs the whole of a request; fills the response. An error ends one step; the middlewares that the request came to
  # before it still see the response. Functions of objects are taken past their classes here, because a look for methods
  # costs half a microsecond.
  .run <- function(request, response) {
    called <- 0L
    forwarded <- FALSE
    repeat {
      caught <- guard({
        if (!forwarded) {
          forwarded <- TRUE
          for (process in .before) {
            called <- called + 1L
            heed(process(request, response))
          }
          handler <- .find_handler(request)
          heed(handler(request, response))
        }
        while (called > 0L) {
          process <- .after[[called]]
          called <- called - 1L
          heed(process(request, response))
        }
      })
      if (is.null(caught)) return(NULL)
      .fail(caught, response)
    }
  }
  # The same where the only middleware is the one that decodes and encodes, as it is in most applications.
  .run_plain <- function(request, response) {
    encoding <- FALSE
    caught <- guard({
      if (length(.subset2(request, "body"))) .subset2(request, ".decode")(.content_handlers)
      table <- .exact[[.subset2(request, "method")]]
      at <- .Internal(match(.subset2(request, "path"), table$paths, 0L, NULL))
      handler <- if (at > 0L) .subset2(table$handlers, at) else .find_handler(request)
      heed(handler(request, response))
      encoding <- TRUE
      .subset2(response, ".encode")(.content_handlers)
    })
    if (is.null(caught)) return(NULL)
    .fail(caught, response)
    if (encoding) return(NULL)
    caught <- guard(.subset2(response, ".encode")(.content_handlers))
    if (!is.null(caught)) .fail(caught, response)
  }
  process_request <- function(request = NULL) {
    if (is.null(request)) request <- new_request()
    response <- response_object()
    response$.clear(content_type)
    .run(request, response)
    response
  }

  self <- environment()
  # What every call touches stands behind all else: the variables of a frame are searched from its last on.
  content_type <- "text/plain"
  .content_handlers <- NULL
  # The handlers of exact paths, by method: `list(paths, handlers)`.
  .exact <- list()
  makeActiveBinding("endpoints", function(value) {
    methods <- Filter(function(method) !is.null(.routers[[method]]), rev(application_methods))
    stats::setNames(lapply(methods, function(method) .routers[[method]]$paths), methods)
  }, self)
  class(self) <- "Application"
  self
}

new_application <- function(middleware = list(new_encode_decode()), content_type = "text/plain", ...) {
  self <- application_object()
  self$content_type <- content_type
  self$HTTPError <- state$http_error
  self$logger <- new_logger("info", "Application")
  for (mw in middleware) self$append_middleware(mw)
  made_application(self)
  self
}

print_application <- function(x, ...) {
  cat("<RestRserve Application>\n")
  endpoints <- x$endpoints
  for (method in names(endpoints)) cat("  ", method, ": ", paste(endpoints[[method]], collapse = ", "), "\n", sep = "")
  invisible(x)
}

static_file <- function(file_path, content_type) {
  type <- guess_mime(file_path, content_type)
  function(request, response) {
    response$body <- c(file = file_path)
    response$content_type <- type
  }
}

static_directory <- function(path, root, content_type, application) {
  prefix <- nchar(if (endsWith(path, "/")) path else paste0(path, "/"))
  within <- paste0(sub("/$", "", root), "/")
  function(request, response) {
    wanted <- file.path(root, substr(request$path, prefix + 1L, 1000000L))
    # A path must not lead out of the directory, neither with `..` nor over a link.
    real <- suppressWarnings(normalizePath(wanted))
    if (!file.exists(real) || dir.exists(real) || !startsWith(real, within)) raise(application$HTTPError$not_found())
    response$body <- c(file = real)
    response$content_type <- guess_mime(real, content_type)
  }
}
