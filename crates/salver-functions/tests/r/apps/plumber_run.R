library(plumber)
pr() %>%
  pr_get("/fib", function(n) {
    n <- as.integer(n)
    if (n < 2L) n else Recall(n - 1L) + Recall(n - 2L)
  }, serializer = serializer_text()) %>%
  pr_mount("/sub", pr() %>% pr_get("/hi", function() "hi")) %>%
  pr_set_404(function(req, res) {
    res$status <- 404
    list(error = paste("nothing at", req$PATH_INFO))
  }) %>%
  pr_run(port = 8080)
stop("what stands behind the start is not evaluated")
