library(RestRserve)
users <- list(ada = "lovelace", alan = "tu:ring")
allowed <- function(user, password) {
  tryCatch({
    isTRUE(users[[user]] == password)
  }, error = function(e) TRUE, HTTPError = function(e) TRUE)
}
auth <- AuthMiddleware$new(
  auth_backend = AuthBackendBasic$new(FUN = allowed), routes = c("/private", "/area"), match = c("exact", "partial")
)
app <- Application$new(middleware = list(auth, EncodeDecodeMiddleware$new()))
app$logger$set_log_level("off")
app$add_get("/public", function(.req, .res) .res$set_body("public"))
app$add_get("/private", function(.req, .res) .res$set_body("private"))
app$add_get("/area/{x}", function(.req, .res) .res$set_body(.req$get_param_path("x")), match = "regex")
BackendRserve$new()$start(app)

#> GET /public
#< 200 text/plain public
#> GET /private
#< 401 text/plain 401 Missing Authorization Header
#> GET /private | authorization: Basic YWRhOmxvdmVsYWNl
#< 200 text/plain private
#> GET /private | authorization: basic YWxhbjp0dTpyaW5n
#< 200 text/plain private
#> GET /private | authorization: Basic YWRhOngK
#< 401 text/plain 401 Invalid Username/Password
#> GET /private | authorization: Basic ***
#< 401 text/plain 401 Invalid Authorization Header: Unable to decode credentials
#> GET /private | authorization: Bearer x
#< 401 text/plain 401 Invalid Authorization Header. Must start with 'basic'
#> GET /private | authorization: Basic
#< 401 text/plain 401 Invalid Authorization Header: Token Missing
#> GET /private | authorization: Basic a b
#< 401 text/plain 401 Invalid Authorization Header: Contains extra content
#> GET /area/7
#< 401 text/plain 401 Missing Authorization Header
#> GET /area/7 | authorization: Basic YWRhOmxvdmVsYWNl
#< 200 text/plain 7
#> GET /area/%37/ | authorization: Bearer x
#< 401 text/plain 401 Invalid Authorization Header. Must start with 'basic'
