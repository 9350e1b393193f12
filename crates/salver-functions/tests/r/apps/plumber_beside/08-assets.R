#* @assets ./public
list()

#* @assets ./public /files
list()

#> GET /public/page.html
#> GET /files/data.csv
#> GET /files/none
#> GET /public/
#> GET /
#> POST /public/page.html
#> GET /public/../08-assets.R
#> HEAD /public/page.html
