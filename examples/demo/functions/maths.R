# Functions of R. Each is called as POST /api/functions/maths/NAME, with its arguments by name.

#* The n-th Fibonacci number, up to the 1476th, the last that a number of R can hold. Pure: the server keeps its answers.
#* @param n:int* which one
#* @pure
fib <- function(n) {
  x <- c(0, 1)
  for (i in seq_len(max(0, min(n, 1476)))) x <- c(x[2], x[1] + x[2])
  x[1]
}

#* Quantiles of numbers. A data frame goes out as rows.
#* @param values:[number]* the numbers
#* @param at:[number] which quantiles, each from 0 to 1
quantiles <- function(values, at = c(0.25, 0.5, 0.75)) {
  at <- pmin(pmax(as.numeric(at), 0), 1)
  data.frame(at = at, value = unname(quantile(as.numeric(values), at)))
}
