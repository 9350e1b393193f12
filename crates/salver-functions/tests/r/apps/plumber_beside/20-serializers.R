value <- list(a = 1:2, b = "x")

#* @plumber
function(pr) {
  made <- list(
    json = serializer_json(auto_unbox = TRUE), unboxed = serializer_unboxed_json(pretty = TRUE),
    text = serializer_text(), cat = serializer_cat(), print = serializer_print(), format = serializer_format(),
    html = serializer_html(), rds = serializer_rds(version = "2", ascii = TRUE),
    octet = serializer_octet(), typed = serializer_content_type("a/b", function(x) paste("typed", length(x))),
    headers = serializer_headers(list("X-Own" = "1", "Content-Type" = "c/d")),
    file = serializer_write_file("text/x", function(value, path) writeLines(names(value), path), ".txt")
  )
  for (name in names(made)) {
    given <- if (name %in% c("text", "cat", "format", "html", "headers")) "t<" else if (name == "octet") as.raw(5:7) else value
    pr_get(pr, paste0("/", name), local({
      kept <- given
      function() kept
    }), serializer = made[[name]])
  }
  register_serializer("shout", function(mark = "!") serializer_text(function(x) paste0(toupper(x), mark)))
  pr_get(pr, "/names", function() grep("^old", registered_serializers(), invert = TRUE, value = TRUE))
  pr_get(pr, "/attached", function() as_attachment(value, "v.json"), serializer = serializer_json())
  pr_get(pr, "/added", function(res) {
    old <- paste0("old", length(registered_serializers()))
    suppressWarnings(addSerializer(old, serializer_text))
    c(old %in% registered_serializers(), "rds" %in% registered_serializers())
  })
  pr_get(pr, "/chosen", function(res) {
    res$serializer <- serializer_text()
    "chosen"
  })
  pr_get(pr, "/headers-list", function() list(1, 2), serializer = serializer_headers(list("X-Own" = "1")))
  pr_get(pr, "/unfit", function() "text", serializer = serializer_octet())
}

#* @get /shout
#* @serializer shout list(mark = "?")
function() "hey"

#* @get /own
#* @serializer null
function() "null"

#> GET /json
#> GET /unboxed
#> GET /text
#> GET /cat
#> GET /print
#> GET /format
#> GET /html
#> GET /rds
#> GET /octet
#> GET /typed
#> GET /headers
#> GET /headers-list
#> GET /file
#> GET /names
#> GET /attached
#> GET /chosen
#> GET /unfit
#> GET /shout
#> GET /own
#> GET /added
