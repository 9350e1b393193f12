# Packages that are not installed, whose interfaces stand here.

# Makes `library(NAME)`, `require`, `requireNamespace` and `NAME::` find `exports`: the package is registered as loaded
# and attached, so that R never looks for its files.
provide_package <- function(name, version, exports) {
  namespace <- list2env(exports, new.env(parent = .BaseNamespaceEnv))
  described <- new.env(parent = baseenv())
  described$spec <- c(name = name, version = version)
  described$exports <- list2env(as.list(stats::setNames(nm = names(exports))), new.env(parent = emptyenv()))
  described$imports <- list(base = TRUE)
  described$path <- ""
  described$lazydata <- new.env(parent = emptyenv())
  described$S3methods <- matrix(NA_character_, 0L, 4L)
  assign(".__NAMESPACE__.", described, envir = namespace)
  .Internal(registerNamespace(name, namespace))
  attach(list2env(exports, new.env(parent = emptyenv())), name = paste0("package:", name), warn.conflicts = FALSE)
}
