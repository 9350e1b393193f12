#* @apiTitle Documented

#* Echo
#* @param msg:str* The text
#* @get /echo
function(msg) msg

#* @plumber
function(pr) {
  register_docs(
    "own", index = function(version = "1", ...) paste0("<p>", version, "</p>"), static = function(...) "../plumber_beside/public"
  )
  pr |>
    pr_set_docs("own", version = "2") |>
    pr_set_docs_callback(function(url) message("docs: ", url)) |>
    pr_set_api_spec(function(spec) c(spec, list("x-own" = TRUE)))
}

#> GET /echo?msg=a
#> GET /__docs__/
#> GET /__docs__
#> GET /__docs__/page.html
#> GET /openapi.json
#> GET /swagger.json
#> GET /__swagger__/
