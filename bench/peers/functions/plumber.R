# The founding text's twin for plumber, on the port of the first argument.
calc_fib = function(n) {
  if (n < 0L) stop("n should be >= 0")
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x = rep(1L, n)
  for (i in 3L:n) x[[i]] = x[[i - 1]] + x[[i - 2]]
  x[[n]]
}

calc_fib_rec = function(n) {
  if (n < 0L) stop("n should be >= 0")
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x = rep(1L, n)
  for (i in 3L:n) x[[i]] = x[[i - 1]] + x[[i - 2]]
  x[[n]]
  calc_fib_rec(n - 1) + calc_fib_rec(n - 2)
}

route = function(calc_fn) {
  function(n = -1) {
    n = as.integer(n)
    if (is.na(n)) stop("\"n\"must be integer number.")
    calc_fn(n)
  }
}

library(plumber)
pr() %>%
  pr_get("/fib", route(calc_fib), serializer = serializer_text()) %>%
  pr_get("/rec", route(calc_fib_rec), serializer = serializer_text()) %>%
  pr_run(port = as.integer(commandArgs(TRUE)[[1]]), docs = FALSE, quiet = TRUE)
