#* @plumber
function(pr) {
  v1 <- pr() |> pr_get("/version", function() 1)
  v2 <- pr() |> pr_get("/version", function() 2) |> pr_filter("f", function(req, res) {
    res$setHeader("X-Version", "2")
    forward()
  })
  pr |>
    pr_mount("/v1", v1) |>
    pr_mount("/v2/", v2) |>
    pr_set_debug(TRUE) |>
    pr_set_parsers(c("json", "text")) |>
    pr_set_docs(FALSE) |>
    pr_post("/json", function(req) req$body) |>
    pr_get("/csv", function() data.frame(a = 1), serializer = serializer_content_type("text/csv", function(v) "a\n1\n")) |>
    pr_get("/yes", function(req) req$args$q, comments = "Says it again") |>
    pr_get("/stop", function() stop("shown to callers"))
}

#> GET /v1/version
#> GET /v2/version
#> GET /v2/
#> GET /v1
#> POST /json | content-type: application/json | {"a":null}
#> POST /json | content-type: application/x-www-form-urlencoded | a=1
#> GET /csv
#> GET /yes?q=1
#> GET /stop
