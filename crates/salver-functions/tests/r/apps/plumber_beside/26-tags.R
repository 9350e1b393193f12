#* @get /json
#* @json
function() list(a = 1)

#* @get /digits
#* @json (digits = 2)
function() pi

#* @get /html
#* @html
function() "<p>"

#* @get /png
#* @png (width = 30, height = 20)
function() plot.new()

#* @get /jpeg
#* @jpeg (width = 30, height = 20)
function() plot.new()

#* @get /svg
#* @svg (width = 1, height = 1)
function() plot.new()

#* @head /only
function(res) {
  res$setHeader("X-Only", "head")
  ""
}

#* @options /only
function(res) {
  res$setHeader("Allow", "HEAD, OPTIONS")
  NULL
}

#* @put /put
#* @patch /put
function(req) req$REQUEST_METHOD

#* @GET /upper
function() "upper"

#'   @get   /spaces
function() "spaces"

#* @get /several
#* @get /names/<name>
#* @post /several
function(name = "none") name

#> GET /json
#> GET /digits
#> GET /html
#> GET /png
#> GET /jpeg
#> GET /svg
#> HEAD /only
#> OPTIONS /only
#> GET /only
#> PUT /put
#> PATCH /put
#> GET /upper
#> GET /spaces
#> GET /several
#> POST /several
#> GET /names/x
