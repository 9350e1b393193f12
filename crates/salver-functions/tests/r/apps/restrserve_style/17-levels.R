library(RestRserve)
lines <- character()
logger <- Logger$new(level = "all", name = "first", printer = function(timestamp, level, logger_name, pid, message, ...) {
  lines <<- c(lines, paste(level, logger_name, message, length(list(...))))
})
logger$set_name("second")
app <- Application$new()
app$logger <- logger
say <- function() {
  logger$fatal("f")
  logger$error("e", context = list(1))
  logger$warn("w")
  logger$info("i")
  logger$debug("d")
  logger$trace("t")
}
app$add_get("/{level}", match = "regex", FUN = function(.req, .res) {
  lines <<- character()
  logger$set_log_level(.req$get_param_path("level"))
  say()
  logger$set_log_level("off")
  .res$set_body(lines)
})
app

#> GET /off
#< 200 text/plain 
#> GET /fatal
#< 200 text/plain FATAL second f 0
#> GET /error
#< 200 text/plain FATAL second f 0\nERROR second e 1
#> GET /warn
#< 200 text/plain FATAL second f 0\nERROR second e 1\nWARN second w 0
#> GET /info
#< 200 text/plain FATAL second f 0\nERROR second e 1\nWARN second w 0\nINFO second i 0
#> GET /debug
#< 200 text/plain FATAL second f 0\nERROR second e 1\nWARN second w 0\nINFO second i 0\nDEBUG second d 0
#> GET /trace
#< 200 text/plain FATAL second f 0\nERROR second e 1\nWARN second w 0\nINFO second i 0\nDEBUG second d 0\nTRACE second t 0
