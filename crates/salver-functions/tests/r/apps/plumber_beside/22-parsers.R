told <- function(value) if (is.list(value)) lapply(value, told) else list(class(value), length(value), format(value))

#* @plumber
function(pr) {
  register_parser("upper", function(...) function(value, ...) toupper(rawToChar(value)), fixed = "text/upper", verbose = FALSE)
  register_parser("lower", function(...) parser_text(tolower), regex = "^x-lower/", verbose = FALSE)
  body <- function(req) told(req$body)
  pr |>
    pr_post("/json", body, parsers = list(json = list(simplifyVector = FALSE))) |>
    pr_post("/form", function(a, b = "none") told(list(a, b)), parsers = "form") |>
    pr_post("/text", body, parsers = "text") |>
    pr_post("/octet", body, parsers = "octet") |>
    pr_post("/rds", body, parsers = "rds") |>
    pr_post("/multi", body, parsers = c("multi", "text", "json", "octet")) |>
    pr_post("/none", function(req) list(is.null(req$body), req$postBody, length(req$bodyRaw)), parsers = "none") |>
    pr_post("/all", body, parsers = tryCatch({
      pr() |> pr_post("/all", identity, parsers = "all")
      "all"
    }, error = function(e) c("json", "text"))) |>
    pr_post("/own", body, parsers = c("upper", "lower")) |>
    pr_get("/names", function() sort(registered_parsers(), method = "radix")) |>
    pr_get("/made", function() vapply(list(
      parser_json(), parser_form(), parser_text(), parser_octet(), parser_rds(), parser_multi(), parser_none(),
      parser_read_file(readLines)
    ), is.function, TRUE)) |>
    pr_get("/set", function(req) get_character_set(req$HTTP_CONTENT_TYPE)) |>
    pr_get("/old-set", function(req) suppressWarnings(getCharacterSet(req$HTTP_CONTENT_TYPE)))
}

#* @post /file
#* @parser multi
#* @parser text
#* @param f:file A file
function(f) names(f)

#> POST /json | content-type: application/json | {"a":[1,2],"b":[{"c":1}]}
#> POST /json | content-type: text/plain | x
#> POST /form | content-type: application/x-www-form-urlencoded | a=1&b=%20
#> POST /form | content-type: application/x-www-form-urlencoded | b=1
#> POST /text | content-type: text/plain | hello
#> POST /text | content-type: text/html; charset=latin1 | <b>
#> POST /octet | content-type: application/octet-stream | bytes
#> POST /rds | content-type: application/rds | not rds
#> POST /multi | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="t"\r\n\r\nhi\r\n--XX\r\nContent-Disposition: form-data; name="j"; filename="j.json"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n--XX--\r\n
#> POST /multi | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="t"\r\n\r\na\r\n--XX\r\nContent-Disposition: form-data; name="t"\r\n\r\nb\r\n--XX--\r\n
#> POST /none | content-type: text/plain | hi
#> POST /all | content-type: text/plain | hi
#> POST /all | content-type: application/json | [1,2]
#> POST /own | content-type: text/upper | up
#> POST /own | content-type: x-lower/a | LOW
#> POST /own | content-type: application/json | {}
#> POST /file | content-type: multipart/form-data; boundary=XX | --XX\r\nContent-Disposition: form-data; name="f"; filename="n.txt"\r\nContent-Type: text/plain\r\n\r\nabc\r\n--XX--\r\n
#> GET /names
#> GET /made
#> GET /set | content-type: text/plain; charset=latin1
#> GET /set | content-type: text/plain
#> GET /old-set | content-type: text/plain; charset=x
