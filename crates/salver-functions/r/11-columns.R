# Calls of a function over columns, as SQL makes them.

# Calls an endpoint for each row of `columns`, a list of vectors for its first parameters, or over all of them at once
# when it is vectorized. Gives a list of two: the values, a list with one for each row or a vector, and NULL; or NULL
# and what the function raised. Values of a class become text where text is asked for, as `as.character` has them.
call_columns <- function(endpoint, columns, rows, text) {
  tryCatch({
    value <- over_columns(state$endpoints[[endpoint]], columns, rows)
    list(if (text) plain_texts(value) else value, NULL)
  }, error = function(e) list(NULL, conditionMessage(e)))
}

over_columns <- function(endpoint, columns, rows) {
  fn <- endpoint$call
  names(columns) <- vapply(endpoint$parameters[seq_along(columns)], function(parameter) parameter$name, "")
  if (endpoint$vectorized) return(do.call(fn, columns))
  if (!length(columns)) return(lapply(logical(rows), function(row) fn()))
  if (length(columns) == 1L && endpoint$leads) return(lapply(columns[[1L]], fn))
  .mapply(fn, columns, NULL)
}

plain_texts <- function(value) {
  if (is.object(value)) return(as.character(value))
  if (is.list(value)) value <- lapply(value, function(one) if (is.object(one)) as.character(one) else one)
  value
}
