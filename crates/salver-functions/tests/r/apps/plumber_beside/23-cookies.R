key <- paste(rep("0123456789abcdef", 4), collapse = "")

#* @plumber
function(pr) {
  # What is sealed begins with a random number.
  masked <- function(value) {
    cookies <- names(value$headers) == "Set-Cookie"
    value$headers[cookies] <- sub("=[^;]{20,}", "=...", unlist(value$headers[cookies]))
    value
  }
  pr |>
    pr_cookie(key, "sealed", http = FALSE, path = "/", same_site = "Lax") |>
    pr_hook("postserialize", masked)
}

#* @get /count
function(req) {
  req$session$count <- c(req$session$count, 1)
  length(req$session$count)
}

#* @get /end
function(req) {
  req$session <- NULL
  "ended"
}

#* @get /key
function() nchar(random_cookie_key())

#* @get /functions
function() lapply(list(session_cookie(key, expiration = 60, secure = TRUE), suppressWarnings(sessionCookie(key))), names)

#* @get /set
function(res) {
  res$setCookie("a", "1", expiration = 3600 * 24 * 365 * 0)
  res$setCookie("b", "x;y", path = "/p", secure = TRUE, http = FALSE, same_site = "None")
  res$removeCookie("c", path = "/p")
  "set"
}

#> GET /count
#> GET /count | cookie: sealed=broken
#> GET /end
#> GET /key
#> GET /functions
#> GET /set | cookie: c=1
