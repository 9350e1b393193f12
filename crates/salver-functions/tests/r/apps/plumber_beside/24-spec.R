#* @apiTitle Named
#* @apiDescription Described
#* @apiTOS https://example.com/terms
#* @apiContact list(name = "Ada", email = "ada@example.com")
#* @apiLicense list(name = "MIT", url = "https://example.com/mit")
#* @apiVersion 9.8
#* @apiTag one The first
#* @apiTag "two words" The second
#* @apiTag three

#* Summary
#*
#* More of it
#* @tag one
#* @tag "two words"
#* @param n:[int]* Numbers
#* @param s:str A text
#* @param f:file A file
#* @response 200 Fine
#* @response 404 Not there
#* @response default Else
#* @post /all
function(n, s = "x", f, req, res) "all"

#* @get /typed/<a:int>/<b:bool>/<c:dbl>/<d:str>/<e:[int]>
function(a, b, c, d, e) "typed"

#* @plumber
function(pr) {
  register_docs("plain", index = function(...) "a page", static = function(...) "public")
  pr |>
    pr_get("/spec", function() pr$getApiSpec(), serializer = serializer_unboxed_json(null = "null")) |>
    pr_get("/docs", function() sort(registered_docs())) |>
    pr_get("/valid", function() tryCatch(validate_api_spec(pr, verbose = FALSE), error = function(e) "no validator")) |>
    pr_set_docs(FALSE) |>
    pr_set_docs_callback(function(url) message(url)) |>
    pr_set_api_spec(function(spec) {
      spec$info$title <- "Changed"
      spec
    })
}

#> GET /spec
#> GET /docs
#> GET /valid
