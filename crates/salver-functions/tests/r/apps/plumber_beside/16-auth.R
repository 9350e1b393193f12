users <- data.frame(uid = c(12, 13), username = c("ada", "alan"))

#* @filter authenticate
function(req, res, username = "") {
  token <- sub("^Bearer ", "", if (is.null(req$HTTP_AUTHORIZATION)) "" else req$HTTP_AUTHORIZATION)
  if (token == "right") {
    req$user <- users[users$username == username, ]
    return(forward())
  }
  res$status <- 401
  res$setHeader("WWW-Authenticate", "Bearer")
  list(error = "Authentication required")
}

#* @get /me
function(req) list(user = req$user)

#* @preempt authenticate
#* @get /about
function() list(msg = "for everybody")

#* @get /admin
function(req, res) {
  if (!identical(req$cookies$role, "admin")) stop("not an admin")
  "welcome"
}

#> GET /me
#> GET /me | authorization: Bearer wrong
#> GET /me?username=ada | authorization: Bearer right
#> GET /me?username=nobody | authorization: Bearer right
#> GET /about
#> GET /admin | authorization: Bearer right
#> GET /admin | authorization: Bearer right | cookie: role=admin
#> GET /none
#> HEAD /me
