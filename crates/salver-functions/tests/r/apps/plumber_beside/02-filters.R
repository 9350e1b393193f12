visits <- 0

#* @filter count
function() {
  visits <<- visits + 1
  forward()
}

#* @filter guard
function(req, res) {
  if (is.null(req$HTTP_X_KEY)) {
    res$status <- 401
    return(list(error = "Who are you?"))
  }
  req$user <- req$HTTP_X_KEY
  forward()
}

#* @get /secret
function(req) list(user = req$user)

#* @preempt guard
#* @get /open
function() "open"

#* @preempt __first__
#* @get /first
function() "first"

#> GET /secret
#> GET /secret | x-key: ada
#> GET /open
#> GET /first
#> GET /none
#> POST /secret | x-key: ada
