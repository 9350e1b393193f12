# `Application`.

application_methods <- c("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")

# Evaluates, and gives NULL, or the error that came. Does what `tryCatch(..., error = identity)` does, at a quarter of
# its price, with the same primitive; where an R does not have it so, `tryCatch` itself is used (`choose_guard`).
guard <- function(expression) {
  .Internal(.addCondHands("error", list(NULL), environment(), environment(), FALSE))
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
  message <- sub("^Error( in .*?)? ?: *", "", geterrmessage(), perl = TRUE)
  simpleError(sub("\n$", "", message), caught[[2L]])
}

choose_guard <- function() {
  works <- tryCatch(
    is.null(guard(NULL)) && is.list(guard(stop("x"))) && is.list(guard(as.numeric(quote(x)))),
    error = function(e) FALSE
  )
  if (!works) guard <<- guard_slowly
}

application_object <- function() {
  content_type <- "text/plain"
  HTTPError <- NULL
  logger <- NULL
  .middleware <- list()
  .routers <- list()
  .handlers <- list()
  .has_openapi <- FALSE
  .openapi_paths <- list()
  # What happens with an error, and how far the request came.
  .called <- 0L

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
    invisible(length(.middleware))
  }

  # The user's handler for a request; raises 404 and 405.
  .match_handler <- function(request, response) {
    router <- .routers[[request$method]]
    if (is.null(router)) raise(HTTPError$method_not_allowed())
    id <- .subset2(router, "match_path")(request$path)
    if (is.null(id)) raise(HTTPError$not_found())
    if (!is.null(attributes(id))) request$parameters_path <- attr(id, "parameters_path")
    .handlers[[id]]
  }
  .forward <- function(request, response) {
    for (mw in .middleware) {
      .called <<- .called + 1L
      .subset2(mw, "process_request")(request, response)
    }
    .match_handler(request, response)(request, response)
  }
  .back <- function(request, response) {
    while (.called > 0L) {
      mw <- .middleware[[.called]]
      .called <<- .called - 1L
      .subset2(mw, "process_response")(request, response)
    }
  }
  # Makes the response of an error.
  .fail <- function(caught, response) {
    condition <- guarded_condition(caught)
    if (inherits(condition, "HTTPError")) {
      response$.become(condition$response)
      return(invisible())
    }
    call <- conditionCall(condition)
    .subset2(logger, "error")(
      conditionMessage(condition),
      context = list(call = if (is.null(call)) "" else paste(deparse(call, nlines = 3L), collapse = " "))
    )
    response$.become(HTTPError$internal_server_error())
  }
  # Runs the whole of a request; fills the response.
  .run <- function(request, response) {
    .called <<- 0L
    caught <- guard({
      .forward(request, response)
      .back(request, response)
    })
    # An error ends one step; the middlewares that were called before it still see the response.
    while (!is.null(caught)) {
      .fail(caught, response)
      caught <- guard(.back(request, response))
    }
  }
  process_request <- function(request = NULL) {
    if (is.null(request)) request <- new_request()
    response <- response_object()
    response$.clear(content_type)
    .run(request, response)
    response
  }

  self <- environment()
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
  state$applications <- c(state$applications, list(self))
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
