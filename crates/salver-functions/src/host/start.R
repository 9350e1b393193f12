# Makes the runtime's environment from its sources, and gives the host the functions it calls.
function(sources) {
  options(warn = 1L)
  salver <- new.env(parent = .BaseNamespaceEnv)
  for (source in sources) eval(parse(text = source, keep.source = FALSE, encoding = "UTF-8"), salver)
  for (name in ls(salver, all.names = TRUE)) {
    value <- get(name, envir = salver, inherits = FALSE)
    if (is.function(value) && !is.primitive(value)) assign(name, compiler::cmpfun(value), envir = salver)
  }
  # Workers are copies: one that has drawn random numbers must not draw the same again in each.
  seed <- function() {
    if (exists(".Random.seed", envir = globalenv(), inherits = FALSE)) set.seed(NULL)
  }
  forget <- function() .Internal(seterrmessage(""))
  functions <- mget(c("load", "call_application", "call_function"), envir = salver, inherits = FALSE)
  c(functions, list(seed, forget))
}
