# A router that is built and run: running registers it.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
if (!requireNamespace("plumber", quietly = TRUE)) {
  cat("plumber is not installed: nothing to test\n")
  quit()
}
salver <- start_host()
offer <- jsonlite::parse_json(salver$load(test_file("apps/plumber_run.R")))
check("routes", vapply(offer$endpoints, function(e) paste(e$method, e$path), ""), c("GET /fib", "GET /sub/hi"))
check("fib", ask(salver, "/fib?n=10")[c("status", "body")], list(status = 200L, body = "55"))
check("mounted", ask(salver, "/sub/hi")$body, "[\"hi\"]")
check("own 404", ask(salver, "/x")[c("status", "body")], list(status = 404L, body = "{\"error\":[\"nothing at /x\"]}"))
finish()
