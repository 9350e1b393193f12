# `AuthBackendBasic`, `AuthBackendBearer`, `AuthMiddleware`, `CORSMiddleware`.

auth_backend <- function(FUN, classname, authenticate) {
  if (!is.function(FUN)) stop("Assertion on 'FUN' failed: Must be a function.")
  force(authenticate)
  self <- new.env(parent = emptyenv())
  self$HTTPError <- state$http_error
  self$authenticate <- function(request, response) authenticate(request, FUN)
  class(self) <- c(classname, "AuthBackend")
  self
}

unauthorized <- function(text, headers) raise(state$http_error$unauthorized(body = text, headers = headers))

# What stands behind `Basic` or `Bearer` in the request.
auth_credentials <- function(request, scheme) {
  header <- request$get_header("authorization")
  invalid <- function(why) unauthorized(paste0("401 Invalid Authorization Header", why), basic_challenge)
  if (is.null(header)) unauthorized("401 Missing Authorization Header", basic_challenge)
  parts <- strsplit(header[[1L]], " ", fixed = TRUE)[[1L]]
  if (!length(parts) || tolower(parts[[1L]]) != scheme) invalid(paste0(". Must start with '", scheme, "'"))
  if (length(parts) == 1L) invalid(": Token Missing")
  if (length(parts) > 2L) invalid(": Contains extra content")
  parts[[2L]]
}

basic_challenge <- list("WWW-Authenticate" = "Basic")
bearer_challenge <- list(
  "WWW-Authenticate" = "error=\"invalid_token\",error_description=\"Invalid or expired access token\""
)

# What the caller sent is taken apart before user code runs. As an argument it would be evaluated inside that code,
# which could swallow the refusal, and let in who sent nothing.
authenticate_basic <- function(request, FUN) {
  bytes <- base64_decode(auth_credentials(request, "basic"))
  text <- if (is.null(bytes) || any(bytes == 0)) "" else rawToChar(bytes)
  colon <- regexpr(":", text, fixed = TRUE)
  if (colon < 0L) unauthorized("401 Invalid Authorization Header: Unable to decode credentials", basic_challenge)
  user <- substr(text, 1L, colon - 1L)
  password <- substr(text, colon + 1L, 1000000L)
  if (!isTRUE(FUN(user, password))) unauthorized("401 Invalid Username/Password", basic_challenge)
  TRUE
}

authenticate_bearer <- function(request, FUN) {
  token <- auth_credentials(request, "bearer")
  if (!isTRUE(FUN(token))) unauthorized("401 Invalid Token", bearer_challenge)
  TRUE
}

new_auth_basic <- function(FUN, ...) auth_backend(FUN, "AuthBackendBasic", authenticate_basic)
new_auth_bearer <- function(FUN, ...) auth_backend(FUN, "AuthBackendBearer", authenticate_bearer)

# Whether a path is one of a middleware's routes.
route_matcher <- function(routes, match) {
  if (!is.character(routes) || !all(startsWith(routes, "/"))) {
    stop("Assertion on 'routes' failed: Must comply to pattern '^/'.")
  }
  if (length(match) != 1L && length(match) != length(routes)) {
    stop("length of 'match' must be 1 or equal length of 'routes'")
  }
  if (!all(match %in% c("exact", "partial"))) stop("Assertion on 'match' failed: Must be 'exact' or 'partial'.")
  partial <- rep_len(match, length(routes)) == "partial"
  exact <- routes[!partial]
  prefixes <- routes[partial]
  function(path) path %in% exact || any(startsWith(path, prefixes))
}

new_auth_middleware <- function(auth_backend, routes, match = "exact", id = "AuthMiddleware") {
  if (!inherits(auth_backend, "AuthBackend")) {
    stop("Assertion on 'auth_backend' failed: Must inherit from class 'AuthBackend'.")
  }
  protects <- route_matcher(routes, match)
  self <- new_middleware(
    function(request, response) if (protects(request$path)) auth_backend$authenticate(request, response),
    nothing, id
  )
  class(self) <- c("AuthMiddleware", "Middleware")
  self
}

new_cors_middleware <- function(routes = "/", match = "partial", id = "CORSMiddleware") {
  applies <- route_matcher(routes, match)
  self <- new_middleware(nothing, function(request, response) {
    if (!applies(request$path)) return(NULL)
    response$set_header("Access-Control-Allow-Origin", "*")
    if (request$method == "OPTIONS") {
      allow <- response$get_header("Allow", "*")
      wanted <- request$get_header("access-control-request-headers", "*")
      response$set_header("Access-Control-Allow-Methods", paste(allow, collapse = ", "))
      response$set_header("Access-Control-Allow-Headers", paste(wanted, collapse = ", "))
      response$set_header("Access-Control-Max-Age", "86400")
    }
  }, id)
  class(self) <- c("CORSMiddleware", "Middleware")
  self
}
