#* @get /stop
function() stop("secret reason")

#* @get /status
function(res) {
  res$status <- 400
  stop("bad input")
}

#* @get /warning
function() {
  warning("careful")
  "done"
}

#* @get /unserializable
function() list(f = function(x) x)

#* @get /promise
function() promises::promise_resolve(42)

#* @get /broken
function() promises::promise_reject("late")

#* @get /no-such
function() undefined_function()

#> GET /stop
#> GET /status
#> GET /warning
#> GET /promise
#> GET /broken
#> GET /no-such
#> POST /stop
