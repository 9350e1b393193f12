# Makes the runtime's environment from its sources, and gives the host the functions it calls.
#
# Compiling takes a second, so what is compiled is kept in the file `kept` for the next process, unless that is "".
function(sources, kept) {
  options(warn = 1L)
  made <- function() {
    salver <- new.env(parent = .BaseNamespaceEnv)
    for (source in sources) eval(parse(text = source, keep.source = FALSE, encoding = "UTF-8"), salver)
    for (name in ls(salver, all.names = TRUE)) {
      value <- get(name, envir = salver, inherits = FALSE)
      if (is.function(value) && !is.primitive(value)) {
        assign(name, compiler::cmpfun(value, options = list(optimize = 3L)), envir = salver)
      }
    }
    salver
  }
  version <- paste(R.version.string, R.version$platform, R.home())
  salver <- NULL
  if (file.exists(kept)) {
    read <- tryCatch(readRDS(kept), error = function(e) NULL)
    if (identical(read$version, version) && identical(read$sources, sources)) salver <- read$salver
  }
  if (is.null(salver)) {
    salver <- made()
    if (nzchar(kept)) {
      whole <- paste0(kept, ".", Sys.getpid())
      try(silent = TRUE, {
        saveRDS(list(version = version, sources = sources, salver = salver), whole, compress = FALSE)
        file.rename(whole, kept)
      })
    }
  }
  # Workers are copies: one that has drawn random numbers must not draw the same again in each.
  seed <- function() {
    if (exists(".Random.seed", envir = globalenv(), inherits = FALSE)) set.seed(NULL)
  }
  forget <- function() .Internal(seterrmessage(""))
  called <- c("load_or_refuse", "own_application", "call_application", "call_function", "call_columns")
  functions <- mget(called, envir = salver, inherits = FALSE)
  c(functions, list(seed, forget))
}
