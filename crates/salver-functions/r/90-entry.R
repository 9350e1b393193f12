# What the host calls: `load_or_refuse`, `own_application`, `call_application`; `call_function` stands with the
# functions.

state <- new.env(parent = emptyenv())
# Whether a file is being loaded.
state$loading <- FALSE

# Loads a file and gives the JSON text of what it offers. Called once in a process, before it forks.
load <- function(file) {
  state$loading <- TRUE
  prepare()
  file <- normalizePath(file, mustWork = TRUE)
  lines <- readLines(file, warn = FALSE, encoding = "UTF-8")
  setwd(dirname(file))
  offer <- if (has_plumber_annotations(lines) && has_plumber()) load_plumber(file) else load_script(file, lines)
  compile_globals()
  state$loading <- FALSE
  state$routers <- state$applications <- list()
  words <- file_words(lines)
  to_json_text(c(list(application = offer$application), fill(words, offer), list(endpoints = as.list(offer$endpoints))))
}

# The same; for a file that asks for what would not hold, a list of the reason.
load_or_refuse <- function(file) {
  tryCatch(load(file), salver_refusal = function(refusal) list(conditionMessage(refusal)))
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
  state$routers <- list()
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
  if (!has_plumber() && has_plumber_annotations(lines)) refuse_plumber_fields(parsed)
  blocks <- annotation_blocks(lines, parsed)
  names_in_file <- unlist(lapply(parsed, assigned_name))
  # Sources are kept only where something reads the comments in them.
  keep <- any(grepl("add_openapi", lines, fixed = TRUE))
  expressions <- if (keep) parsed else parse(text = lines, keep.source = FALSE, encoding = "UTF-8")
  if (keep) options(keep.source = TRUE)
  value <- withRestarts(run_script(expressions), salver_served = function() NULL)
  options(keep.source = FALSE)
  if (is.null(state$application)) adopt_value(value)
  if (!is.null(state$application)) return(application_offer())
  # With annotations, only what stands below them is served.
  if (!any(lengths(lapply(blocks, `[[`, "routes")))) refuse_unmade(expressions, names_in_file)
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

# An application that is made but not started is taken as well: the last value of the file (as in `entrypoint.R`); the
# only `Application` that was made; the function `.http.request`. Where another one was made, the file is refused: its
# functions must not be served by their names, past its filters.
adopt_value <- function(value) {
  made <- made_in_file()
  if (is_router(value)) {
    state$application <- list(kind = "plumber", object = value)
  } else if (is_application(value)) {
    state$application <- list(kind = "restrserve", object = value)
  } else if (length(made) == 1L && is_application(made[[1L]])) {
    state$application <- list(kind = "restrserve", object = made[[1L]])
  } else if (length(made)) {
    refuse_unstarted(if (length(made) > 1L) "makes several routers or applications" else "makes a router")
  } else if (!is.null(http_request_function())) {
    state$application <- list(kind = "rserve", object = http_request_function())
  }
}

is_router <- function(value) inherits(value, "Plumber")

is_application <- function(value) {
  is.environment(value) && inherits(value, "Application") && is.function(value[["process_request"]])
}

made_application <- function(app) if (state$loading) state$applications <- c(state$applications, list(app))

# The routers and applications that were made while the file was loaded, or that stand among its variables.
made_in_file <- function() {
  names <- ls(globalenv(), all.names = TRUE, sorted = FALSE)
  names <- names[!vapply(names, bindingIsActive, TRUE, env = globalenv())]
  found <- c(state$applications, state$routers, lapply(names, get0, envir = globalenv(), inherits = FALSE))
  found <- Filter(function(value) is_router(value) || is_application(value), found)
  found[!duplicated(found)]
}

# Refuses a file that would make one when it is not loaded (`if (sys.nframe() == 0L) main()`): it attaches one of the
# packages, or calls what only they have. `parsed` is the whole file.
refuse_unmade <- function(parsed, names_in_file) {
  said <- setdiff(packages_in_code(parsed), names_in_file)
  if (length(said)) refuse_unstarted(paste0("is written for plumber or RestRserve (`", said[1L], "`)"))
}

packages_in_code <- function(code) {
  if (is.expression(code)) return(unlist(lapply(as.list(code), packages_in_code)))
  if (is.pairlist(code)) code <- as.list(code)
  if (is.list(code)) return(unlist(lapply(code, function(part) if (!missing(part)) packages_in_code(part))))
  if (is.name(code)) return(intersect(as.character(code), c("BackendRserve", "pr_run")))
  if (!is.call(code)) return(NULL)
  head <- code[[1L]]
  first <- if (length(code) > 1L && !identical(code[[2L]], quote(expr = ))) code[[2L]]
  name <- if (is.name(head)) as.character(head) else ""
  own <- if (name %in% c("library", "require") && names_package(first)) {
    deparse(code)[1L]
  } else if (name %in% c("::", ":::") && names_package(first) && makes_application(as.character(code[[3L]]))) {
    deparse(code)[1L]
  } else if (makes_application(name) && !name %in% c("pr", "Application")) {
    name
  } else if (name == "$" && identical(first, quote(Plumber))) {
    "Plumber"
  }
  c(own, packages_in_code(as.list(code)))
}

names_package <- function(value) {
  (is.name(value) || is.character(value)) && as.character(value)[1L] %in% c("plumber", "RestRserve")
}

makes_application <- function(name) {
  name %in% c("pr", "plumb", "Plumber", "Application", "BackendRserve") ||
    grepl("^pr_(run|filter|hooks?|get|post|put|delete|head|handle|mount|static|cookie|set_[a-z0-9_]+)$", name)
}

refuse_unstarted <- function(what) {
  refuse(paste0(
    "the file ", what, ", but starts none while it is loaded, so that it is not served: end the file with the router ",
    "or the application, or start it (`pr_run(router)`, `BackendRserve$new()$start(app)`) without a condition such as ",
    "`interactive()` or `sys.nframe() == 0L`; or remove it"
  ))
}

# Of several that are started, nobody knows which is to be served. Told when the file is loaded, whatever it catches.
refuse_second_start <- function(object) {
  started <- state$application$object
  if (!is.null(started) && !identical(started, object)) state$several <- TRUE
}

application_offer <- function() {
  if (isTRUE(state$several)) refuse("the file starts several applications; only one can be served")
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
