# The founding application, as it stands.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
salver <- start_host()
offer <- salver$load(test_file("apps/fib.R"))
route <- function(method) {
  paste0(
    "{\"function\":\"\",\"method\":\"", method, "\",\"path\":\"/fib\",\"prefix\":false,\"parameters\":[],",
    "\"summary\":null,\"description\":null,\"pure\":false}"
  )
}
check("offer", offer, paste0(
  "{\"application\":true,\"title\":null,\"description\":null,\"endpoints\":[", route("HEAD"), ",", route("GET"), "]}"
))

plain <- c("Content-Type" = "text/plain", Server = "RestRserve/1.2.4; Salver")
answer <- function(status, body) list(status = status, headers = plain, body = body, kind = 0L)
check("n = 10", ask_whole(salver, "/fib?n=10"), answer(200L, "55"))
check("n = 20, escaped", ask_whole(salver, "/fib?n=%32%30"), answer(200L, "6765"))
check("other parameters", ask_whole(salver, "/fib?a=&n=10&=b&c"), answer(200L, "55"))
check("path with escapes", ask_whole(salver, "/%66ib?n=10"), answer(200L, "55"))
check("HEAD", ask_whole(salver, "/fib?n=10", "HEAD"), answer(200L, "55"))
check("no n", ask_whole(salver, "/fib"), answer(400L, "400 Bad Request"))
check("n is not a number", suppressWarnings(ask_whole(salver, "/fib?n=x")), answer(400L, "400 Bad Request"))
check("stop()", ask_whole(salver, "/fib?n=-1"), answer(500L, "500 Internal Server Error"))
check("no such path", ask_whole(salver, "/nothing"), answer(404L, "404 Not Found"))
check("slash behind", ask_whole(salver, "/fib/"), answer(404L, "404 Not Found"))
check("no such method", ask_whole(salver, "/fib", "POST"), answer(405L, "405 Method Not Allowed"))
check("a query is of its call only", ask_whole(salver, "/fib"), answer(400L, "400 Bad Request"))
finish()
