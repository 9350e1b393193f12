# What R itself computes: calls a second of the recursive function, byte-compiled as a served one is, in a loop.
# Arguments: n, seconds.
calc_fib_rec = function(n) {
  if (n < 0L) stop("n should be >= 0")
  if (n == 0L) return(0L)
  if (n == 1L || n == 2L) return(1L)
  x = rep(1L, n)
  for (i in 3L:n) x[[i]] = x[[i - 1]] + x[[i - 2]]
  x[[n]]
  calc_fib_rec(n - 1) + calc_fib_rec(n - 2)
}
calc_fib_rec = compiler::cmpfun(calc_fib_rec)

arguments = as.integer(commandArgs(TRUE))
invisible(calc_fib_rec(arguments[[1]]))
begun = proc.time()[["elapsed"]]
calls = 0
repeat {
  calc_fib_rec(arguments[[1]])
  calls = calls + 1
  took = proc.time()[["elapsed"]] - begun
  if (took >= arguments[[2]]) break
}
cat(calls / took)
