#* @apiTitle Shop
#* @apiDescription What a shop has.

calls <- 0

#* Count the calls
#* @filter count
function(req) {
  calls <<- calls + 1
  plumber::forward()
}

#* @filter guard
function(req, res) {
  if (identical(req$HTTP_X_KEY, "wrong")) {
    res$status <- 401
    return(list(error = "not you"))
  }
  plumber::forward()
}

#* Echo the input
#* @param msg:str* The message to echo
#* @get /echo
function(msg = "") {
  list(msg = paste0("The message is: '", msg, "'"))
}

#* @get /unboxed
#* @serializer unboxedJSON
function() list(a = 1, b = "x")

#* @post /sum
function(a, b) as.numeric(a) + as.numeric(b)

#* @get /users/<id:int>/<name>
function(id, name) list(id = id + 1L, name = name)

#* @get /text
#* @serializer text
function() "plain text"

#* @get /html
#* @serializer html
function() "<html><h1>hello</h1></html>"

#* @get /frame
function() data.frame(a = 1:2, b = c("x", "y"))

#* @get /png
#* @serializer png
function() plot(1:3)

#* @get /stop
function() stop("unexpected")

#* @get /teapot
function(req, res) {
  res$status <- 418
  res$setHeader("X-Tea", "green")
  res$setCookie("cup", "full")
  list(tea = TRUE)
}

#* @get /cookies
function(req) req$cookies$a

#* @preempt guard
#* @get /open
function() "open"

#* @get /promise
function() promises::then(promises::promise(function(resolve, reject) later::later(function() resolve(1), 0.01)),
  function(value) value + 41)

#* @get /broken-promise
function() promises::promise(function(resolve, reject) later::later(function() reject("late"), 0.01))

#* @post /upload
function(f) names(f)

#* @put /body
#* @parser text
#* @serializer text
function(req) req$postBody

#* @assets ./static /static
list()
