library(RestRserve)
model <- lm(mpg ~ wt + hp, data = mtcars)
app <- Application$new(content_type = "application/json")
app$logger$set_log_level("off")
app$add_post("/predict", function(.req, .res) {
  body <- .req$body
  if (!is.list(body) || !all(c("wt", "hp") %in% names(body))) {
    raise(HTTPError$bad_request(body = list(error = "wt and hp, please")))
  }
  rows <- data.frame(wt = as.numeric(unlist(body$wt)), hp = as.numeric(unlist(body$hp)))
  .res$set_body(list(mpg = round(unname(predict(model, rows)), 2)))
})
app$add_get("/coefficients", function(.req, .res) .res$set_body(as.list(round(coef(model), 4))))
app

#> POST /predict | content-type: application/json | {"wt":3,"hp":110}
#< 200 application/json {"mpg":22.1}
#> POST /predict | content-type: application/json | {"wt":[2,3],"hp":[100,110]}
#< 200 application/json {"mpg":[26.29,22.1]}
#> POST /predict | content-type: application/json | {"wt":3}
#< 400 text/plain wt and hp, please
#> POST /predict | content-type: application/x-www-form-urlencoded | wt=3&hp=110
#< 400 text/plain wt and hp, please
#> GET /coefficients
#< 200 application/json {"(Intercept)":37.2273,"wt":-3.8778,"hp":-0.0318}
