#* @apiTitle Numbers

#* The double
#* @param n:number* the number
#* @get /double
#* @post /double
double_it <- function(n) 2 * n

#* @get /text/<name:chr>/<times:int>
#* @serializer text
function(name, times) rep(name, times)

#* @get /html
#* @serializer html
function() "<p>x</p>"

#* @get /csv
#* @serializer csv
function() data.frame(a = 1:2, b = c("x", "y \"z\""))

#* @get /json
#* @serializer json
function() list(a = 1, b = "x")

#* @get /rows
#* @serializer json
function() data.frame(a = 1:2, b = c("x", NA))

#* @get /unboxed
#* @serializer unboxedJSON
function() list(a = 1)

#* @get /plot
#* @serializer png list(width = 300, height = 240)
function() plot(1:3)

#* @get /drawing
#* @serializer svg
function() {
  plot(1:3)
  NULL
}

#* @get /print
#* @serializer print
function() 1:3

#* @get /bytes
#* @serializer octet
function() as.raw(0:2)

#* @get /request
function(req, res, n = 1) {
  res$status <- 201L
  res$setHeader("X-Path", req$PATH_INFO)
  req$HTTP_X_A
}

#* @post /body
function(req) list(req$postBody, length(req$bodyRaw))

#* @get /stop
#* @serializer png
function() stop("no plot")
