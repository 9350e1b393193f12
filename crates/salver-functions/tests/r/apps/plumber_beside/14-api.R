#* @apiTitle Things
#* @apiDescription What there is
#* @apiVersion 1.2.3
#* @apiTag things All of them

things <- data.frame(id = 1:3, name = c("a", "b", "c"), stringsAsFactors = FALSE)

#* All things
#* @tag things
#* @response 200 The things
#* @get /things
function(limit = 10) head(things, as.integer(limit))

#* One thing
#* @param id:int The number
#* @get /things/<id:int>
function(id, res) {
  found <- things[things$id == id, ]
  if (!nrow(found)) {
    res$status <- 404
    return(list(error = "no such thing"))
  }
  as.list(found)
}

#* @post /things
#* @serializer unboxedJSON
function(req, res, name = NULL) {
  if (is.null(name)) {
    res$status <- 422
    return(list(error = "a name, please"))
  }
  res$status <- 201
  list(id = nrow(things) + 1L, name = name)
}

#* @delete /things/<id:int>
function(id, res) {
  res$status <- 204
  res$body <- ""
  res
}

#> GET /things
#> GET /things?limit=2
#> GET /things?limit=x
#> GET /things/2
#> GET /things/9
#> POST /things | content-type: application/json | {"name":"d"}
#> POST /things | content-type: application/json | {"name":"d","other":[1,2]}
#> POST /things
#> PUT /things
