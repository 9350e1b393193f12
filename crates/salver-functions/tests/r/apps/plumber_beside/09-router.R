#* @get /own
function() "own"

#* @plumber
function(pr) {
  pr %>%
    pr_get("/piped", function() "piped") %>%
    pr_post("/made", function(req, res) {
      res$status <- 201
      "made"
    }) %>%
    pr_put("/put/<x:int>", function(x) x) %>%
    pr_delete("/gone", function() "gone") %>%
    pr_head("/head", function() "head") %>%
    pr_handle(c("GET", "PATCH"), "/both", function(req) req$REQUEST_METHOD) %>%
    pr_mount("/sub", pr() %>% pr_get("/a", function(req) req$PATH_INFO)) %>%
    pr_static("/static", "./public") %>%
    pr_set_serializer(serializer_unboxed_json()) %>%
    pr_set_404(function(req, res) {
      res$status <- 404
      list(missing = req$PATH_INFO)
    }) %>%
    pr_set_error(function(req, res, err) {
      res$status <- 500
      list(failed = conditionMessage(err))
    }) %>%
    pr_get("/stop", function() stop("wanted"))
}

#> GET /own
#> GET /piped
#> POST /made
#> PUT /put/4
#> DELETE /gone
#> HEAD /head
#> GET /both
#> PATCH /both
#> GET /sub/a
#> GET /sub/b
#> GET /static/page.html
#> GET /none
#> GET /stop
