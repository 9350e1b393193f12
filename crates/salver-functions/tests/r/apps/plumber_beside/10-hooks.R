#* @plumber
function(pr) {
  pr %>%
    pr_hook("preroute", function(req) req$began <- "yes") %>%
    pr_hook("postserialize", function(req, value) {
      value$headers$`X-Began` <- req$began
      value
    }) %>%
    pr_hooks(list(preserialize = function(value) c(value, "hooked"))) %>%
    pr_filter("tag", function(req, res) {
      res$setHeader("X-Tag", "t")
      forward()
    })
}

#* @get /x
function() "x"

#* @use /any
function(req) req$REQUEST_METHOD

#> GET /x
#> GET /any
#> DELETE /any
#> GET /none
