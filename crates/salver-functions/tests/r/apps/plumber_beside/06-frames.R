#* @get /frame
function() data.frame(a = 1:2, b = c("x", NA), stringsAsFactors = TRUE)

#* @get /named
function() data.frame(a = 1:2, row.names = c("r1", "r2"))

#* @get /nested
function() {
  rows <- data.frame(id = 1:2)
  rows$inner <- data.frame(x = c(TRUE, FALSE), y = c("p", "q"))
  rows
}

#* @get /matrix-column
function() {
  rows <- data.frame(id = 1:2)
  rows$m <- matrix(1:4, 2)
  rows
}

#* @get /list-column
function() {
  rows <- data.frame(id = 1:2)
  rows$l <- list(1:2, "a")
  rows
}

#* @get /matrix
function() matrix(1:6, 2)

#* @get /array
function() array(1:8, c(2, 2, 2))

#* @get /values
function() list(
  date = as.Date("2020-02-03"), time = as.POSIXct("2020-02-03 04:05:06", tz = "UTC"), factor = factor("a"),
  big = 2^53, small = 1e-10, inf = Inf, nan = NaN, complex = 1i, raw = as.raw(1:3), null = NULL, empty = list()
)

#* @get /nothing
function() NULL

#* @get /invisible
function() invisible(5)

#> GET /frame
#> GET /named
#> GET /nested
#> GET /matrix-column
#> GET /list-column
#> GET /matrix
#> GET /array
#> GET /values
#> GET /nothing
#> GET /invisible
