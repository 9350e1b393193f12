# Applications that come with the package.
#* @plumber
function(pr) {
  for (name in c(
    "02-filters", "04-mean-sum", "05-static", "08-identity", "09-content-type", "10-welcome", "11-car-inventory",
    "16-attachment", "17-arguments"
  )) pr_mount(pr, paste0("/", name), plumb_api("plumber", name))
  pr
}

#> GET /02-filters/me
#> GET /02-filters/me?username=joe
#> GET /02-filters/test
#> GET /02-filters/about
#> POST /04-mean-sum/sum?a=1&b=2
#> POST /04-mean-sum/sum | content-type: application/x-www-form-urlencoded | a=4&b=3
#> GET /05-static/files/b.txt
#> GET /05-static/static/b.txt
#> GET /08-identity/name?a=1
#> GET /09-content-type/pdf
#> GET /10-welcome/
#> GET /11-car-inventory/car/
#> GET /11-car-inventory/car/22
#> GET /11-car-inventory/car/99
#> POST /11-car-inventory/car/ | content-type: application/json | {"make":"A"}
#> PUT /11-car-inventory/car/1 | content-type: application/json | {"make":"A","model":"B"}
#> DELETE /11-car-inventory/car/99
#> GET /16-attachment/name
#> GET /16-attachment/noname
#> GET /16-attachment/inline
#> GET /17-arguments/bad-practice/1/2?a=3
#> GET /17-arguments/good-practice/1/2?a=3
#> POST /17-arguments/bad-practice/1/2 | content-type: application/json | {"a":5}
