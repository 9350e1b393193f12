# Only the package: what is made with it stands in the test.
library(RestRserve)
suppressPackageStartupMessages(require(RestRserve))
stopifnot(requireNamespace("RestRserve", quietly = TRUE), is.function(RestRserve::raise), is.list(RestRserve:::Router))

app <- RestRserve::Application$new()
app$logger$set_log_level("off")
app$add_get("/", function(request, response) response$body <- "root")
