# What needs packages that are not there says so, with the package as without Salver.
said <- function(expression) tryCatch(class(expression), error = function(e) conditionMessage(e))

#* @get /serializers
function() list(
  said(serializer_csv()), said(serializer_tsv()), said(serializer_yaml()), said(serializer_feather()),
  said(serializer_parquet()), said(serializer_geojson()), said(serializer_htmlwidget())
)

#* @get /parsers
function() list(
  said(parser_csv()), said(parser_tsv()), said(parser_yaml()), said(parser_feather()), said(parser_parquet()),
  said(parser_geojson())
)

#* @get /pages
function(res) list(said(include_md("public/page.html", res)), said(include_rmd("public/page.html", res)))

#* @get /deploy
function() list(
  said(do_provision()), said(do_configure_https()), said(do_deploy_api()), said(do_forward()), said(do_remove_api()),
  said(do_remove_forward())
)

#* @get /all
function() said(pr() |> pr_post("/x", identity, parsers = "all"))

#> GET /serializers
#> GET /parsers
#> GET /pages
#> GET /deploy
#> GET /all
