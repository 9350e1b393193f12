model <- lm(mpg ~ wt, data = mtcars)

#* Predict
#* @param wt:dbl
#* @post /predict
#* @get /predict
function(wt) unname(round(predict(model, data.frame(wt = as.numeric(wt))), 3))

#* @get /coefficients
function() as.list(coef(model))

#* @get /table
#* @serializer print
function() table(mtcars$cyl)

#* @get /summary
#* @serializer print
function() summary(mtcars$mpg)

#* @get /rows
function() head(mtcars, 2)

#> GET /predict?wt=3
#> POST /predict | content-type: application/json | {"wt":[2,3]}
#> POST /predict | content-type: application/x-www-form-urlencoded | wt=2.5
#> GET /predict
#> GET /predict?wt=heavy
#> GET /coefficients
#> GET /table
#> GET /summary
#> GET /rows
