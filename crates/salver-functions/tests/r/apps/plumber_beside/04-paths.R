#* @get /users/<id>
function(id) list(id = id, class = class(id))

#* @get /int/<id:int>
function(id) list(id = id + 1L)

#* @get /dbl/<x:dbl>/<y:numeric>
function(x, y) x * y

#* @get /bool/<on:bool>
function(on) list(on = on)

#* @get /list/<xs:[int]>
function(xs) sum(xs)

#* @get /all/<rest>/end
function(rest) rest

#> GET /users/7
#> GET /users/a%20b
#> GET /users/a/b
#> GET /int/41
#> GET /int/x
#> GET /int/-3
#> GET /dbl/1.5/2
#> GET /bool/true
#> GET /bool/yes
#> GET /list/1,2,3
#> GET /all/x/end
#> GET /users/
