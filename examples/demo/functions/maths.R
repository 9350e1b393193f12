# Functions of R. Each is called as POST /api/functions/maths/NAME, with its arguments by name.

#* The n-th Fibonacci number. Pure: the server keeps its answers.
#* @pure
fib <- function(n) {
  x <- c(0, 1)
  for (i in seq_len(n)) x <- c(x[2], x[1] + x[2])
  x[1]
}

# A data frame goes out as rows.
quantiles <- function(values, at = c(0.25, 0.5, 0.75)) {
  data.frame(at = at, value = unname(quantile(values, at)))
}
