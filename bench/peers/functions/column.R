# The founding text's iterative function as it stands, called in SQL for each row of a table. Run by Rscript with a file
# of numbers, one a line below a head: the seconds R takes for the same vector, and its sum.
#* @pure
fib = function(n) {
  if (n < 0L) stop("n should be >= 0")
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x = rep(1L, n)
  for (i in 3L:n) x[[i]] = x[[i - 1]] + x[[i - 2]]
  x[[n]]
}

arguments = commandArgs(TRUE)
if (length(arguments) == 1L) {
  fib = compiler::cmpfun(fib)
  v = read.csv(arguments[[1]])$n
  took = system.time(x <- vapply(v, fib, 0))[["elapsed"]]
  cat(took, sum(x))
}
