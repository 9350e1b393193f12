#* @plumber
function(pr) {
  inner <- Plumber$new()
  inner$handle("GET", "/a", function() "a")
  inner$handle(c("GET", "POST"), "/b", function(req) req$REQUEST_METHOD, serializer = serializer_unboxed_json())
  inner$handle("GET", "/gone", function() "gone")
  inner$removeHandle("GET", "/gone")
  inner$handle(endpoint = PlumberEndpoint$new("GET", "/made", function(x = 1) x, inner$environment))
  inner$filter("mark", function(req, res) {
    res$setHeader("X-Mark", "inner")
    forward()
  })
  inner$registerHook("preroute", function(data, req) data$began <- TRUE)
  inner$registerHooks(list(postroute = function(data, value) {
    if (is.character(value)) paste(value, data$began) else value
  }))
  inner$setSerializer(serializer_json(digits = 3))
  inner$setParsers("json")
  inner$set404Handler(function(req, res) list(nothing = req$PATH_INFO))
  inner$setErrorHandler(function(req, res, err) {
    res$status <- 503
    conditionMessage(err)
  })
  inner$handle("GET", "/stop", function() stop("later"))
  inner$handle("POST", "/json", function(req) req$body)
  inner$setDebug(FALSE)
  inner$setDocs(FALSE)
  inner$setDocsCallback(NULL)
  pr$mount("/inner", inner)
  pr$mount("/out", Plumber$new())
  pr$unmount("/out")
  pr$mount("/files", PlumberStatic$new("./public"))
  pr$setDocs(FALSE)
  pr$handle("GET", "/state", function() list(
    debug = inner$getDebug(), mounts = names(pr$mounts), routes = names(inner$routes),
    endpoints = length(unlist(inner$endpoints)), filters = vapply(inner$filters, function(f) f$name, ""),
    plumber = is_plumber(pr), none = is_plumber(1), printed = utils::capture.output(print(inner))[1]
  ))
  pr
}

#> GET /inner/a
#> GET /inner/b
#> POST /inner/b
#> GET /inner/gone
#> GET /inner/made?x=4
#> GET /inner/none
#> GET /inner/stop
#> POST /inner/json | content-type: application/json | {"a":[1.23456]}
#> POST /inner/json | content-type: text/plain | x
#> GET /out/
#> GET /files/data.csv
#> GET /state
