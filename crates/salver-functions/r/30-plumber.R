# plumber: the real package, driven through its router. Only `run` is replaced: it registers instead of listening.

adopt_plumber <- function(...) {
  options(salver.start_plumber = start_plumber)
  plumber <- asNamespace("plumber")
  plumber$Plumber$set("public", "run", overwrite = TRUE, plumber_run)
  tell_when_made(plumber$Plumber, made_router)
}

# Only while a file is loaded: a handler may make one in each call.
made_router <- function(router) if (state$loading) state$routers <- c(state$routers, list(router))

# Has the objects of an R6 class given to `tell` when they are made.
tell_when_made <- function(generator, tell) {
  initialize <- generator$public_methods$initialize
  if (!is.function(initialize)) initialize <- function(...) NULL
  body(initialize) <- call("{", as.call(list(tell, quote(self))), body(initialize))
  generator$set("public", "initialize", overwrite = TRUE, initialize)
}

# Takes the place of `Plumber$run`. R6 makes it a method of each router, in the router's own environment: so it sees
# `self`, `private` and plumber's namespace, but nothing of this one.
plumber_run <- function(host = "127.0.0.1", port = NULL, swagger = NULL, debug = rlang::missing_arg(),
                        swaggerCallback = NULL, ..., docs = rlang::missing_arg(), quiet = FALSE) {
  if (isTRUE(private$disable_run)) {
    stop("Plumber router `$run()` method should not be called while `plumb()`ing a file")
  }
  if (!rlang::is_missing(debug)) self$setDebug(debug)
  if (!rlang::is_missing(docs)) self$setDocs(docs)
  getOption("salver.start_plumber")(self)
}

start_plumber <- function(router) {
  refuse_second_start(router)
  state$application <- list(kind = "plumber", object = router)
  end_of_file()
}

load_plumber <- function(file) {
  router <- NULL
  # Where the real package serves a file, somebody has attached it before: files use its functions by their names.
  suppressPackageStartupMessages(library("plumber", character.only = TRUE))
  # `plumb` reads the annotations and evaluates the file; what `@plumber` blocks do with the router counts.
  withRestarts(router <- plumber::plumb(file), salver_served = function() NULL)
  if (!is.null(router)) {
    if (length(state$applications)) refuse_unstarted("has annotations and makes an `Application`")
    state$application <- list(kind = "plumber", object = router)
  }
  application_offer()
}

plumber_offer <- function(router) {
  # The package as Debian has it does not know this variable, by which newer ones are told of a log-in.
  if (!is.null(secret <- plumber_option("sharedSecret"))) options(plumber.sharedSecret = secret)
  # First, because the documentation is mounted on it then.
  endpoints <- plumber_endpoints(router)
  state$answer <- plumber_worker(router)
  list(application = TRUE, endpoints = endpoints)
}

# What answers calls of a router: `function(method, path, query, headers, body, address)`.
plumber_worker <- function(router) {
  private <- router$.__enclos_env__$private
  # What `run` would have done before it listens.
  private$maxSize <- as.numeric(plumber_option("maxRequestSize", 0))
  if (!is.null(private$filename)) setwd(dirname(normalizePath(private$filename)))
  mount <- get0("mount_docs", asNamespace("plumber"))
  if (is.function(mount) && isTRUE(private$docs_info$enabled)) {
    tryCatch(
      mount(router, host = "127.0.0.1", port = 8080L, docs_info = private$docs_info, callback = NULL, quiet = TRUE),
      error = function(e) message("the documentation of the router is not served: ", conditionMessage(e))
    )
  }
  function(method, path, query, headers, body, address) {
    req <- rook_request(method, path, query, headers, body, address)
    refused <- router$onHeaders(req)
    answer_of_rook(if (is.null(refused)) rook_call(router, req) else refused)
  }
}

# Calls the router as httpuv does. The message of an error that gets out goes to the log; httpuv gives it to callers.
rook_call <- function(router, req) {
  tryCatch(settled(router$call(req)), error = function(e) {
    message("ERROR: ", conditionMessage(e))
    unanswered
  })
}

unanswered <- list(
  status = 500L, headers = list("Content-Type" = "text/plain; charset=UTF-8"), body = "An exception occurred."
)

# The value of a promise, running what waits in the event loop until it is there; other values as they are.
settled <- function(value) {
  if (!inherits(value, "promise")) return(value)
  result <- NULL
  failure <- NULL
  done <- FALSE
  promises::then(
    value,
    onFulfilled = function(v) {
      result <<- v
      done <<- TRUE
    },
    onRejected = function(e) {
      failure <<- e
      done <<- TRUE
    }
  )
  while (!done) later::run_now(1)
  if (!is.null(failure)) stop(failure)
  result
}

# `list(status, headers, body)` as httpuv takes it; what is none is answered in its words.
answer_of_rook <- function(answer) {
  status <- if (is.list(answer)) suppressWarnings(as.integer(answer$status))
  if (length(status) != 1L || is.na(status)) answer <- unanswered
  body <- answer$body
  kind <- 0L
  if ("file" %in% names(body)) {
    kind <- if (isTRUE(as.logical(body[["owned"]]))) 2L else 1L
    body <- as.character(body[["file"]])
  } else if (is.null(body)) {
    body <- raw()
  } else if (is.character(body) && length(body)) {
    body <- paste(unname(body), collapse = "\n")
  } else if (!is.raw(body)) {
    return(answer_of_rook(unanswered))
  }
  # A header may have several values (`Set-Cookie`): each becomes a field of its own. The length is the server's.
  values <- lapply(answer$headers, paste)
  values <- values[tolower(names(values)) != "content-length"]
  # Nobody may have set any.
  fields <- unlist(values, use.names = FALSE)
  if (length(fields)) names(fields) <- rep(names(values), lengths(values))
  list(as.integer(answer$status), fields, body, kind)
}

# The endpoints of a router and of those mounted on it, with their parameters.
plumber_endpoints <- function(router, prefix = "") {
  own <- lapply(unlist(unname(router$endpoints)), function(endpoint) {
    lapply(endpoint$verbs, plumber_endpoint, endpoint = endpoint, prefix = prefix)
  })
  mounts <- router$mounts
  below <- lapply(names(mounts), function(path) {
    mounted <- mounts[[path]]
    if (path %in% c("/__docs__/", "/__swagger__/")) return(NULL)
    # Files at `/` have an index, which would else be the server's.
    if (inherits(mounted, "PlumberStatic")) return(if (identical(paste0(prefix, path), "/")) list(plumber_index))
    plumber_endpoints(mounted, sub("/$", "", paste0(prefix, path)))
  })
  c(unlist(own, recursive = FALSE), unlist(below, recursive = FALSE))
}

plumber_index <- list(
  "function" = "", method = "GET", path = "/", prefix = FALSE, parameters = list(), summary = NULL, description = NULL,
  pure = FALSE
)

plumber_endpoint <- function(verb, endpoint, prefix) {
  arguments <- formals(endpoint$getFunc())
  in_path <- path_parameters(endpoint$path)
  said <- if (is.list(endpoint$params)) endpoint$params else list()
  keys <- union(setdiff(names(arguments), c("req", "res", "...")), names(in_path))
  parameters <- lapply(keys, function(key) {
    type <- if (!is.null(said[[key]]$type) && !is.na(said[[key]]$type)) said[[key]]$type else in_path[[key]]
    description <- said[[key]]$desc
    list(
      name = key, kind = if (is.null(type)) "any" else parameter_kind(type), list = isTRUE(said[[key]]$isArray),
      required = key %in% names(in_path) || isTRUE(said[[key]]$required),
      description = if (is_string(description) && nzchar(description)) description
    )
  })
  said_of <- function(text) if (is_string(text) && nzchar(text)) text
  list(
    "function" = "", method = verb, path = paste0(prefix, endpoint$path), prefix = FALSE, parameters = parameters,
    summary = said_of(endpoint$comments), description = said_of(endpoint$description), pure = FALSE
  )
}
