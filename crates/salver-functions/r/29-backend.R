# OpenAPI of RestRserve, `BackendRserve`, and the package's names.

# The YAML between `#' ---` lines in a handler; NULL when there is none. Needs the source kept.
openapi_docstring <- function(FUN) {
  source <- attr(FUN, "srcref")
  if (is.null(source)) return(NULL)
  lines <- grep("^[[:space:]]*#'", as.character(source), value = TRUE)
  lines <- sub("^[[:space:]]*#' ?", "", lines)
  bounds <- grep("^-{3,}[[:space:]]*$", lines)
  if (length(bounds) < 2L || bounds[2L] - bounds[1L] < 2L) return(NULL)
  lines[(bounds[1L] + 1L):(bounds[2L] - 1L)]
}

openapi_text <- function(paths) {
  lines <- c(
    "openapi: 3.0.1", "info:", "  title: RestRserve OpenAPI", "  version: '1.0'", "servers:", "- url: /"
  )
  if (!length(paths)) return(c(lines, "paths: {}"))
  lines <- c(lines, "paths:")
  for (path in unique(vapply(paths, `[[`, "", 1L))) {
    lines <- c(lines, paste0("  ", path, ":"))
    for (entry in paths) if (entry[[1L]] == path) {
      lines <- c(lines, paste0("    ", entry[[2L]], ":"), paste0("      ", entry[[3L]]))
    }
  }
  lines
}

swagger_page <- function(path_openapi, path_assets = NULL) {
  base <- if (is.null(path_assets)) "https://unpkg.com/swagger-ui-dist@3/" else path_assets
  if (!endsWith(base, "/")) base <- paste0(base, "/")
  c(
    "<!-- HTML for static distribution bundle build -->", "<!DOCTYPE html>", "<html lang=\"en\">", "<head>",
    "<meta charset=\"UTF-8\">", "<title>Swagger UI</title>",
    paste0("<link rel=\"stylesheet\" type=\"text/css\" href=\"", base, "swagger-ui.css\">"), "</head>", "<body>",
    "<div id=\"swagger-ui\"></div>", paste0("<script src=\"", base, "swagger-ui-bundle.js\"></script>"),
    paste0("<script src=\"", base, "swagger-ui-standalone-preset.js\"></script>"), "<script>",
    "window.onload = function() {", "  window.ui = SwaggerUIBundle({",
    paste0("    url: ", json_string(path_openapi), ", dom_id: '#swagger-ui', deepLinking: true,"),
    "    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], layout: 'StandaloneLayout'",
    "  });", "};", "</script>", "</body>", "</html>"
  )
}

# `BackendRserve$new()$start(app, ...)` registers the application. In the foreground it never comes back, as the real
# one does not while it serves; in the background it gives the process.
new_backend <- function(..., jit_level = 0L, precompile = TRUE) {
  self <- new.env(parent = emptyenv())
  self$start <- function(app, http_port = 8080, ..., background = FALSE) start_application(app, background)
  self$set_request <- backend_set_request
  self$convert_response <- function(response) {
    answer <- response$.answer()
    fields <- answer[[2L]][-1L]
    lines <- if (length(fields)) paste(paste0(names(fields), ": ", fields), collapse = "\r\n") else character()
    converted <- list(answer[[3L]], answer[[2L]][[1L]], lines, answer[[1L]])
    if (answer[[4L]] > 0L) names(converted) <- c(if (answer[[4L]] == 1L) "file" else "tmpfile", "", "", "")
    converted
  }
  class(self) <- c("BackendRserve", "Backend")
  self
}

backend_set_request <- function(request, path = "/", parameters_query = NULL, headers = NULL, body = NULL) {
  lines <- if (length(headers)) strsplit(if (is.raw(headers)) rawToChar(headers) else headers, "\r?\n")[[1L]]
  at <- regexpr(":", lines, fixed = TRUE)
  fields <- stats::setNames(trimws(substr(lines, at + 1L, 1000000L)), tolower(substr(lines, 1L, at - 1L)))[at > 0L]
  method <- if ("request-method" %in% names(fields)) fields[["request-method"]] else "GET"
  fields <- fields[names(fields) != "request-method"]
  type <- attr(body, "content-type")
  if (!is.null(type) && !"content-type" %in% names(fields)) fields <- c(fields, "content-type" = type)
  if (is.character(body)) {
    body <- body[nzchar(names(body)) & nzchar(body)]
    pairs <- vapply(body, utils::URLencode, "", reserved = TRUE)
    body <- charToRaw(paste0(names(body), "=", pairs, collapse = "&"))
  }
  query <- parameters_query[nzchar(names(parameters_query)) & nzchar(parameters_query)]
  request$.accept(method, path, as.list(query), fields, if (is.null(body)) raw() else body)
  invisible(request)
}

# Where the real package is installed, its applications run on it; only the start of its backend is replaced.
adopt_restrserve <- function() {
  options(salver.start_application = start_application)
  tell_when_made(asNamespace("RestRserve")$Application, made_application)
  backend <- asNamespace("RestRserve")$BackendRserve
  backend$set("public", "start", overwrite = TRUE, function(app, http_port = 8080, ..., background = FALSE) {
    getOption("salver.start_application")(app, background)
  })
}

# Answers calls of an application of the real package, through what its backend offers.
foreign_worker <- function(app, backend = asNamespace("RestRserve")$BackendRserve$new(),
                           request = asNamespace("RestRserve")$Request$new()) {
  function(method, path, query, headers, body, address) {
    request$reset()
    call <- rserve_call(method, path, query, headers, body)
    backend$set_request(request, call[[1L]], call[[2L]], call[[4L]], call[[3L]])
    answer_of_rserve(backend$convert_response(app$process_request(request)))
  }
}

start_application <- function(app, background) {
  refuse_second_start(app)
  state$application <- list(kind = "restrserve", object = app)
  if (background) {
    process <- structure(list(pid = Sys.getpid(), kill = function(signal = 15L) invisible(TRUE)),
      class = "ApplicationProcess")
    return(process)
  }
  end_of_file()
}

# The names `library(RestRserve)` gives.
restrserve_exports <- function() {
  list(
    Application = generator("Application", new_application),
    AuthBackendBasic = generator("AuthBackendBasic", new_auth_basic),
    AuthBackendBearer = generator("AuthBackendBearer", new_auth_bearer),
    AuthMiddleware = generator("AuthMiddleware", new_auth_middleware),
    BackendRserve = generator("BackendRserve", new_backend),
    ContentHandlers = state$content_handlers,
    ContentHandlersFactory = generator("ContentHandlersFactory", content_handlers_factory),
    CORSMiddleware = generator("CORSMiddleware", new_cors_middleware),
    EncodeDecodeMiddleware = generator("EncodeDecodeMiddleware", new_encode_decode),
    ETagMiddleware = generator("ETagMiddleware", new_etag_middleware),
    HTTPError = state$http_error,
    HTTPErrorFactory = generator("HTTPErrorFactory", http_error_factory),
    Logger = generator("Logger", new_logger),
    Middleware = generator("Middleware", new_middleware),
    Request = generator("Request", new_request),
    Response = generator("Response", new_response),
    .req = new_request(), .res = new_response(),
    Router = generator("Router", new_router),
    from_http_date = from_http_date, raise = raise, to_http_date = to_http_date, to_json = to_json
  )
}

# The version of the package whose interface this is.
interface_version <- "1.2.4"

# Makes `library(RestRserve)`, `require`, `requireNamespace` and `RestRserve::` find these names.
provide_restrserve <- function() {
  exports <- restrserve_exports()
  if (is.null(getOption("RestRserve.headers.server"))) {
    # The package names itself and Rserve, which runs it.
    options(RestRserve.headers.server = paste0("RestRserve/", interface_version, "; Salver"))
  }
  provide_package("RestRserve", interface_version, exports)
  for (class in c("Request", "Response", "Application")) {
    registerS3method("print", class, get(paste0("print_", tolower(class))), envir = baseenv())
  }
}
