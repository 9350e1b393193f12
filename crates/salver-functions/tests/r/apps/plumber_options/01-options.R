options_plumber(
  port = 9, docs = FALSE, docs.callback = NULL, trailingSlash = TRUE, methodNotAllowed = FALSE, apiURL = "https://a.example",
  apiScheme = "https", apiHost = "b.example", apiPort = 444, apiPath = "/base", maxRequestSize = 20,
  legacyRedirects = FALSE
)

#* @get /slash/
function() "slash"

#* @get /get
function() "get"

#* @post /body
function(req) req$postBody

#* @get /options
function() {
  names <- c("port", "docs", "trailingSlash", "methodNotAllowed", "apiURL", "apiHost", "maxRequestSize", "legacyRedirects")
  lapply(paste0("plumber.", names), getOption)
}

#* @plumber
function(pr) pr_set_docs(pr, FALSE)

#> GET /slash/
#> GET /slash
#> GET /slash?a=1
#> GET /get
#> POST /get
#> POST /none
#> POST /body | content-type: text/plain | short
#> POST /body | content-type: text/plain | longer than twenty bytes
#> GET /options
#> GET /openapi.json
#> GET /swagger.json
