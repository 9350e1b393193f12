#* @filter later
function(req) {
  if (identical(req$HTTP_X_WAIT, "filter")) return(promises::then(promises::promise_resolve(1), function(v) forward()))
  forward()
}

#* @filter refuse
function(req, res) {
  if (!identical(req$HTTP_X_WAIT, "refuse")) return(forward())
  promises::then(promises::promise_resolve(1), function(v) {
    res$status <- 403
    list(error = "later")
  })
}

#* @get /chain
function() {
  promises::promise_resolve(2) |>
    promises::then(function(v) v * 10) |>
    promises::then(function(v) list(value = v))
}

#* @get /text
#* @serializer text
function() promises::promise(function(resolve, reject) later::later(function() resolve("text"), 0.01))

#* @get /status
function(res) promises::then(promises::promise_resolve(1), function(v) {
  res$status <- 202
  "accepted"
})

#* @get /stop
function() promises::then(promises::promise_resolve(1), function(v) stop("in a promise"))

#* @get /response
function(res) promises::then(promises::promise_resolve(1), function(v) {
  res$body <- "whole"
  res
})

#* @get /png
#* @serializer png list(width = 20, height = 20)
function() promises::then(promises::promise_resolve(1), function(v) plot.new())

#> GET /chain
#> GET /chain | x-wait: filter
#> GET /chain | x-wait: refuse
#> GET /text
#> GET /status
#> GET /stop
#> GET /response
#> GET /png
