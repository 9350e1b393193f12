# What the host calls: `load`, `own_application`, `call_application`; `call_function` stands with the functions.

state <- new.env(parent = emptyenv())

# Loads a file and gives the JSON text of what it offers. Called once in a process, before it forks.
load <- function(file) {
  prepare()
  file <- normalizePath(file, mustWork = TRUE)
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  setwd(dirname(file))
  offer <- if (has_plumber_annotations(lines) && has_plumber()) load_plumber(file) else load_script(file, lines)
  compile_globals()
  words <- file_words(lines)
  to_json_text(c(list(application = offer$application), fill(words, offer), list(endpoints = as.list(offer$endpoints))))
}

fill <- function(words, offer) {
  title <- if (is.null(words$title)) offer$title else words$title
  description <- if (is.null(words$description)) offer$description else words$description
  list(title = title, description = description)
}

prepare <- function() {
  options(keep.source = FALSE, warn = 1L, device = function(...) grDevices::pdf(NULL))
  compiler::enableJIT(3L)
  choose_guard()
  state$applications <- list()
  state$http_error <- http_error_factory()
  state$content_handlers <- content_handlers_factory()
  if (nzchar(system.file(package = "RestRserve"))) {
    setHook(packageEvent("RestRserve", "onLoad"), function(...) adopt_restrserve())
  } else {
    provide_restrserve()
  }
  take_rserve()
  if (isNamespaceLoaded("plumber")) adopt_plumber() else setHook(packageEvent("plumber", "onLoad"), adopt_plumber)
}

has_plumber <- function() requireNamespace("plumber", quietly = TRUE)

# Evaluates the file as a script in the global environment, as `Rscript` does.
load_script <- function(file, lines) {
  if (!has_plumber()) refuse_plumber_words(lines)
  parsed <- parse(text = lines, keep.source = TRUE, encoding = "UTF-8")
  blocks <- annotation_blocks(lines, parsed)
  names_in_file <- unlist(lapply(parsed, assigned_name))
  # Sources are kept only where something reads the comments in them.
  keep <- any(grepl("add_openapi", lines, fixed = TRUE))
  expressions <- if (keep) parsed else parse(text = lines, keep.source = FALSE, encoding = "UTF-8")
  if (keep) options(keep.source = TRUE)
  value <- withRestarts(run_script(expressions), salver_served = function() NULL)
  options(keep.source = FALSE)
  if (is.null(state$application)) adopt_value(value, names_in_file)
  if (!is.null(state$application)) return(application_offer())
  state$endpoints <- function_endpoints(blocks, names_in_file, globalenv())
  if (has_plumber_annotations(lines)) refuse_plumber_options()
  if (!length(state$endpoints)) stop("the file has neither an application nor a function")
  list(application = FALSE, endpoints = lapply(state$endpoints, endpoint_offer))
}

run_script <- function(expressions) {
  value <- NULL
  for (expression in expressions) value <- eval(expression, globalenv())
  value
}

# A server that starts in the foreground never comes back: what stands behind it in the file is not evaluated.
end_of_file <- function() invokeRestart("salver_served")

# An application that is made but not started is taken as well: the last value when it is a router of plumber (as in
# `entrypoint.R`); the `Application` named `app`, or the last that was made; the function `.http.request`.
adopt_value <- function(value, names_in_file) {
  app <- unstarted_application(value, names_in_file)
  if (inherits(value, "Plumber")) {
    state$application <- list(kind = "plumber", object = value)
  } else if (!is.null(app)) {
    state$application <- list(kind = "restrserve", object = app)
  } else if (!is.null(http_request_function())) {
    state$application <- list(kind = "rserve", object = http_request_function())
  }
}

# Those of the real package are found by the names the file gave them.
unstarted_application <- function(value, names_in_file) {
  named <- lapply(c("app", rev(names_in_file)), get0, envir = globalenv(), inherits = FALSE)
  found <- Filter(function(app) inherits(app, "Application"), c(named[1L], rev(state$applications), list(value), named))
  if (length(found)) found[[1L]]
}

application_offer <- function() {
  kind <- state$application$kind
  object <- state$application$object
  if (kind == "plumber") return(plumber_offer(object))
  if (kind == "rserve") {
    state$answer <- rserve_worker(object)
    return(list(application = TRUE, endpoints = list()))
  }
  if (inherits(object, "R6")) state$answer <- foreign_worker(object) else state$own_answer <- own_answer(object)
  list(application = TRUE, endpoints = restrserve_endpoints(object))
}

# Gives what answers a request to an application on our own classes, whose path is decoded and whose query is read. One
# request and one response serve all calls of a worker.
own_answer <- function(app) {
  request <- request_object()
  response <- response_object()
  accept <- request$.accept
  clear <- response$.clear
  run <- app$.prepare()
  answer <- response$.answer
  function(method, path, query, headers, body) {
    accept(method, path, query, headers, body)
    clear(.subset2(app, "content_type"))
    run(request, response)
    # A large body is not kept until the next call comes.
    if (length(body) > 1048576L) request$reset()
    answer()
  }
}

# What answers requests to the application when it is on our own classes, else NULL.
own_application <- function() state$own_answer

restrserve_endpoints <- function(app) {
  endpoints <- app$endpoints
  unlist(lapply(names(endpoints), function(method) {
    paths <- endpoints[[method]]
    lapply(seq_along(paths), function(i) {
      variables <- path_pattern(paths[[i]])$variables
      list(
        "function" = "", method = method, path = sub("\\{([^:}]+):[^}]*\\}", "{\\1}", paths[[i]]),
        prefix = names(paths)[i] == "partial",
        parameters = lapply(variables, function(name) {
          list(name = name, kind = "text", list = FALSE, required = TRUE, description = NULL)
        }),
        summary = NULL, description = NULL, pure = FALSE
      )
    })
  }), recursive = FALSE)
}

# Byte-compiles the functions that the file made, so that no worker has to.
compile_globals <- function() {
  for (name in ls(globalenv(), all.names = TRUE)) {
    if (bindingIsActive(name, globalenv()) || bindingIsLocked(name, globalenv())) next
    value <- get(name, globalenv())
    if (typeof(value) != "closure" || is.object(value)) next
    compiled <- tryCatch(compiler::cmpfun(value), error = function(e) NULL)
    if (!is.null(compiled)) assign(name, compiled, envir = globalenv())
  }
}

# Answers a request to any other application.
call_application <- function(method, path, query, headers, body, address) {
  state$answer(method, path, query, headers, body, address)
}
