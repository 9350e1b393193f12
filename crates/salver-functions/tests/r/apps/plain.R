# A comment that is no annotation.
library(stats)

#' Fibonacci numbers
#'
#' By adding up.
#' @param n:int which one
#' @pure
#' @return dbl
fib <- function(n) {
  x <- c(0L, 1L)
  for (i in seq_len(n)) x <- c(x[2L], x[1L] + x[2L])
  x[1L]
}

#' @return what is to be said
greet <- function(name, greeting = "Hello") paste0(greeting, ", ", name, "!")

.hidden <- function() "hidden"
constant <- 1

#* @param rows:df the rows
#* @param by:chr* the column
mean_of = function(rows, by = "x") mean(rows[[by]])

kinds <- function(...) length(list(...))

fails <- function() stop("no way")
