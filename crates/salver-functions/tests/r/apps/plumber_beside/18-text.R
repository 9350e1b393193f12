#* @get /utf8
function(x = "\u00e9\u4e2d") x

#* @get /escaped
function() list(quote = "\"", slash = "\\", tag = "</a>", tab = "\t", control = "\u0001")

#* @get /latin1
#* @serializer text
function() iconv("\u00e9", "UTF-8", "latin1")

#* @get /long
function() strrep("x", 100000)

#* @get /length
function(req) nchar(req$QUERY_STRING)

#* @get /plus
function(a) a

#> GET /utf8
#> GET /utf8?x=%C3%BC%20%E2%82%AC
#> GET /utf8?x=%FF
#> GET /escaped
#> GET /long
#> GET /length?a=%20&b
#> GET /plus?a=1+1
#> GET /plus?a=1%2B1
