options_plumber(sharedSecret = "open sesame")

#* @get /treasure
function() "gold"

#* @preempt __first__
#* @get /first
function() "first"

#* @preempt sharedSecret
#* @get /before
function() "before"

#* @plumber
function(pr) pr_set_docs(pr, FALSE)

#> GET /treasure
#> GET /treasure | plumber-shared-secret: no
#> GET /treasure | plumber-shared-secret: open sesame
#> GET /none
#> GET /first
#> GET /before
#> HEAD /treasure
