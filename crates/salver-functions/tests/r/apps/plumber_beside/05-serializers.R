#* @get /json
#* @serializer json list(digits = 2, na = "string")
function() list(pi = pi, none = NA)

#* @get /unboxed
#* @serializer unboxedJSON
function() list(a = 1, b = "x", c = 1:2, d = NULL, e = NA)

#* @get /text
#* @serializer text
function() "plain"

#* @get /html
#* @serializer html
function() "<b>x</b>"

#* @get /csv
#* @serializer contentType list(type = "text/csv")
function() "a,b\n1,2\n"

#* @get /print
#* @serializer print
function() list(a = 1)

#* @get /cat
#* @serializer cat
function() c("a", "b")

#* @get /format
#* @serializer format
function() 3.5

#* @get /octet
#* @serializer octet
function() as.raw(1:3)

#* @get /typed
#* @serializer contentType list(type = "application/x-own")
function() "own"

#* @get /attachment
#* @serializer text
function() as_attachment("content", "file.txt")

#* @get /rds
#* @serializer rds
function() 1:3

#> GET /json
#> GET /unboxed
#> GET /text
#> GET /html
#> GET /csv
#> GET /print
#> GET /cat
#> GET /format
#> GET /octet
#> GET /typed
#> GET /attachment
#> GET /rds
