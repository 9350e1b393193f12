library(RestRserve)
tokens <- list("valid-token" = as.POSIXct("2099-12-31", tz = "GMT"), "expired-token" = as.POSIXct("1900-01-01", tz = "GMT"))
allowed <- function(token) {
  if (is.null(tokens[[token]])) return(FALSE)
  if (Sys.time() > tokens[[token]]) return(FALSE)
  TRUE
}
app <- Application$new(middleware = list(
  AuthMiddleware$new(AuthBackendBearer$new(FUN = allowed), routes = "/", match = "partial"),
  EncodeDecodeMiddleware$new()
))
app$add_get("/secure", function(.req, .res) .res$set_body("inside"))
app

#> GET /secure
#< 401 text/plain 401 Missing Authorization Header
#> GET /secure | authorization: Bearer valid-token
#< 200 text/plain inside
#> GET /secure | authorization: Bearer expired-token
#< 401 text/plain 401 Invalid Token
#> GET /secure | authorization: Bearer other
#< 401 text/plain 401 Invalid Token
#> GET /none
#< 401 text/plain 401 Missing Authorization Header
#> POST /secure
#< 401 text/plain 401 Missing Authorization Header
