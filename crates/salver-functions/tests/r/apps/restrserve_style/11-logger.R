library(RestRserve)
lines <- character()
app <- Application$new()
app$logger <- Logger$new(level = "info", name = "app")
app$logger$set_printer(function(timestamp, level, logger_name, pid, message, ...) {
  lines <<- c(lines, paste(level, logger_name, message))
})
app$add_get("/log", function(.req, .res) {
  app$logger$info("seen")
  app$logger$debug("not seen")
  .res$set_body(lines)
})
app$add_get("/stop", function(.req, .res) stop("broken"))
app

#> GET /log
#< 200 text/plain INFO app seen
#> GET /stop
#< 500 text/plain 500 Internal Server Error
#> GET /log
#< 200 text/plain INFO app seen\nERROR app broken\nINFO app seen
