# Serves files by the real plumber over HTTP, for test_plumber_beside.R: `Rscript beside_plumber.R PARENT FILE...`. Prints
# its own process and the port of each file, and ends with its parent.
arguments <- commandArgs(TRUE)
suppressPackageStartupMessages(library(plumber))
files <- normalizePath(arguments[-1L])
setwd(dirname(files[1L]))
ports <- vapply(files, function(file) {
  router <- pr(file)
  private <- router$.__enclos_env__$private
  # What `run` does before it listens.
  private$maxSize <- getOption("plumber.maxRequestSize", 0)
  docs <- private$docs_info
  # Where there are several, their lists of endpoints are compared without those of the documentation.
  if (length(files) > 1L) pr_set_docs(router, FALSE)
  else if (isTRUE(docs$enabled)) plumber:::mount_docs(router, "127.0.0.1", 8080L, docs, NULL, quiet = TRUE)
  port <- httpuv::randomPort()
  httpuv::startServer("127.0.0.1", port, router)
  port
}, 1L)
cat(Sys.getpid(), ports, "\n")
while (dir.exists(file.path("/proc", arguments[1L]))) httpuv::service(200)
