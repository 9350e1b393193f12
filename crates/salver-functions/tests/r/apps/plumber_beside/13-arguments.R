#* @get /missing
function(a) missing(a)

#* @get /default
function(a = 5, b = a) list(a, b)

#* @get /dots
function(...) list(...)

#* @get /req
function(req, res, a) names(req$args)

#* @param n:int* How many
#* @param [xs]:[int] Numbers
#* @get /typed
function(n, xs = NULL) class(n)

#* @get /vector
function(x) x

#> GET /missing
#> GET /missing?a=1
#> GET /default
#> GET /default?a=1
#> GET /dots?x=1&y=2
#> GET /req?a=1
#> GET /typed?n=1
#> GET /typed
#> GET /vector?x=1&x=2&x=3
#> GET /vector?x=%C3%A9
