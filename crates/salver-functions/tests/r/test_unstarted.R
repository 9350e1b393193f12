# Files whose router or application is not the one that is served: they are refused, never served by name.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))

salver <- start_host()

# Each in a process of its own, as the host runs them: "refused", the names of functions, or the answer to /x.
result <- function(...) {
  lines <- c(...)
  in_copy({
    if ("#none" %in% lines) assign("has_plumber", function() FALSE, envir = salver)
    writeLines(lines, file <- tempfile(fileext = ".R"))
    offer <- tryCatch(salver$load_or_refuse(file), error = conditionMessage)
    if (is.list(offer)) {
      told <- "starts none while it is loaded|starts several applications|needs the package plumber"
      if (grepl(told, offer[[1L]])) "refused" else offer[[1L]]
    } else if (!startsWith(offer, "{")) {
      paste("failed:", offer)
    } else if (jsonlite::parse_json(offer)$application) {
      as.character(ask(salver, "/x")$status)
    } else {
      paste(vapply(jsonlite::parse_json(offer)$endpoints, `[[`, "", "function"), collapse = " ")
    }
  })
}
refused <- function(...) check(paste(..., sep = "\n"), result(...), "refused")

closed <- "AuthMiddleware$new(AuthBackendBasic$new(FUN = function(u, p) FALSE), '/', 'partial')"
make <- c(
  "library(RestRserve)", "secret <- function() 'SECRET'",
  paste0("make <- function() {\n  a <- Application$new()\n  a$append_middleware(", closed, ")"),
  "  a$add_get('/x', function(rq, rs) rs$set_body('x'))\n  a\n}"
)
debug <- c("debug <- Application$new()", "debug$add_get('/x', function(rq, rs) rs$set_body('x'))")
refused(make, "if (sys.nframe() == 0L) BackendRserve$new()$start(make())")
refused(make, "server <- make()", debug, "invisible(NULL)")
refused(make, "BackendRserve$new()$start(make(), background = TRUE)", debug, "BackendRserve$new()$start(debug)")
refused("main <- function() RestRserve::Application$new()", "secret <- function() 1")
check("the last value", result(make, "server <- make()", debug, "server"), "401")
check("the one that is started", result(make, debug, "BackendRserve$new()$start(make())"), "401")
check("the only one", result(make, "server <- make()", "invisible(NULL)"), "401")
check("functions", result(
  "f <- function(pr, ...) pr(1)", "Application <- list(new = function() 1)", "g <- function() Application$new()",
  "plumb <- function(x) x", "h <- function() plumb(1)"
), "f g plumb h")
main <- "main <- function() {\n  library(plumber)\n  pr_run(pr())\n}"
refused("#none", "secret <- function() 1", main, "if (sys.nframe() == 0L) main()")
refused("#none", "secret <- function() 1", "main <- function(r) Reduce(function(x, f) f(x), list(pr_run), r)")
# What decides nothing about callers fails as any error does.
static <- result("#none", "#* @static ./x /st", "list()", "f <- function() 1")
check("@static", startsWith(static, "failed: line 2"), TRUE)
for (word in c("@filter a", "@preempt a", "@plumber")) {
  filter <- c(paste("#*", word), "function(req, res) NULL")
  refused("#none", "#* @assets ./x", "list()", filter, "#* @get /x", "function() 1")
}
for (line in c("Sys.setenv(PLUMBER_SHAREDSECRET = 'x')", "options(plumber.sharedSecret = 'x')")) {
  refused("#none", line, "#* @get /x", "function() 'SECRET'")
}

if (nzchar(system.file(package = "plumber"))) {
  router <- c(
    "library(plumber)", "secret <- function() 'SECRET'",
    "router <- pr() |> pr_filter('a', function(req, res) { res$status <- 401; list() }) |> pr_get('/x', secret)"
  )
  refused("secret <- function() 1", main, "if (sys.nframe() == 0L) main()")
  # The copies that follow begin with the package.
  loadNamespace("plumber")
  for (last in c(
    "if (interactive()) pr_run(router)", "if (sys.nframe() == 0L) pr_run(router)", "helper <- function(x) x",
    "cat('')", "invisible(NULL)", "all <- list(router); rm(router); all"
  )) refused(router, last)
  refused(make, "app <- make()", "#* @get /x", "function() 1")
  refused("secret <- function() 1", "router <- plumber::Plumber$new()", "NULL")
  check("the router is the last value", result(router), "401")
  check("it is started", result(router, "other <- pr()", "if (!interactive()) pr_run(router)"), "401")
  check("another one is mounted", result(router, "sub <- pr()", "pr_mount(router, '/sub', sub)"), "401")
  check("a secret in the environment", result(
    "Sys.setenv(PLUMBER_SHAREDSECRET = 'x')", "#* @get /x", "function() 'SECRET'"
  ), "400")
  for (word in c("@static . /st", "@preempt a", "@parser json")) {
    check(word, result(paste("#*", word), if (word == "@static . /st") "list()", "secret <- function() 1"), "404")
  }
}
finish()
