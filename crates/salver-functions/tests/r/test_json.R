# The encoder against jsonlite's, the decoder against jsonlite's.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
salver$prepare()
theirs <- function(x, unbox) {
  as.character(jsonlite::toJSON(x, dataframe = "columns", auto_unbox = unbox, null = "null", na = "null"))
}
set.seed(1)
values <- list(
  NULL, TRUE, NA, 1L, NA_integer_, 1, 0.1, 1 / 3, 1e-5, 2e-5, -3.14159265e-8, 1e-300, 0.00005, c(1e-7, 1),
  123456.789, 1e15, 1e20, -2.5, NaN, Inf, "x", NA_character_, "",
  "quotes \" and \\ and / and \t\n\r\b\f\001", "\u00e9\u4e2d", c(1.5, NA, 3), c(1, 2.25, 1000000), 1:3, c("a", NA),
  c(TRUE, NA), character(), list(), list(1, "a", NULL), list(a = 1, b = list(c = 2, d = list())),
  stats::setNames(list(), character()), c(a = 1, b = 2), list(a = "a", one = 1, l = list("o"), o = list(o = "o")),
  list("TRUE" = TRUE, "NULL" = NULL, q = "\"quotes\""), stats::rnorm(50), stats::rnorm(50) * 1e6,
  stats::runif(9) * 1e12, list(a = 1, a = 2, 3, b = 4, a.1 = 5), stats::setNames(1:4, c("a", NA, "a", "")),
  factor(c("u", "v")), data.frame(x = 1:2, y = c("a", "b")), as.Date("2024-02-29"), matrix(1:4, 2L)
)
for (i in seq_along(values)) for (unbox in c(TRUE, FALSE)) {
  check(paste("encode", i, unbox), salver$to_json_text(values[[i]], unbox), theirs(values[[i]], unbox))
}
check("bytes that are no text", salver$to_json_text(rawToChar(as.raw(c(0x61, 0xff)))), "\"a<ff>\"")
texts <- c(
  "{}", "[]", "null", "true", "1", "-1.5e3", "12345678901", "\"a\\u00e9\\n\\\"\\ud83d\\ude00\\/\"",
  "{\"a\":[1,2,{\"b\":null}],\"c\":\"x y\",\"d\":{}}", " [ 1 , \"a\" , [ ] ] ", "[[1,2],[3,4]]", "{\"a\":\"{[,:]}\"}"
)
for (text in texts) {
  check(paste("decode", text), salver$json_parse(text), jsonlite::parse_json(text))
}
for (text in c("", "{", "[1,]", "{\"a\" 1}", "nul", "[1] 2", "{\"bad\" : json}", "\"open")) {
  check(paste("refuse", text), inherits(try(salver$json_parse(text), silent = TRUE), "try-error"), TRUE)
}
finish()
