#* @get /include
function(res) include_html("public/page.html", res)

#* @get /file
function(res) include_file("public/data.csv", res, "text/csv")

#* @get /form
#* @serializer html
function() '<form action="/sum" method="post"><input name="a"/></form>'

#* @get /env
function(req) list(
  req$REQUEST_METHOD, req$PATH_INFO, req$QUERY_STRING, req$SCRIPT_NAME, req$HTTP_X_A, req$rook.url_scheme,
  req$argsQuery, req$HTTP_ACCEPT
)

#* @get /session
function(req) is.null(req$session)

#> GET /include
#> GET /file
#> GET /form
#> GET /env?a=1&b=%20x&a=2 | x-a: 1 | accept: a/b
#> GET /env?novalue
#> GET /env?=x&y=
#> GET /session
