#* Say hello
#* @get /hello
function(name = "world") paste("Hello", name)

#* @post /sum
function(a, b) as.numeric(a) + as.numeric(b)

#> GET /hello
#> GET /hello?name=Ada%20L
#> GET /hello?name=
#> GET /hello?name=a&name=b
#> POST /sum | content-type: application/json | {"a":1,"b":2.5}
#> POST /sum | content-type: application/x-www-form-urlencoded | a=4&b=5
#> POST /sum?a=1&b=2
#> POST /sum
#> PUT /sum
#> GET /none
#> HEAD /hello
