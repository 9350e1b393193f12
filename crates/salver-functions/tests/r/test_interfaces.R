# Whether the applications use everything that RestRserve and plumber offer: all names that their NAMESPACE exports, the
# methods of their classes, and their options. What none uses stands in the list with a reason.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))

applications <- function(...) {
  unlist(lapply(file.path(test_file("apps"), c(...)), list.files, "[.]R$", full.names = TRUE))
}

# Names, texts and annotations in the code of a file.
words_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  parsed <- utils::getParseData(parse(text = lines, keep.source = TRUE, encoding = "UTF-8"))
  texts <- parsed$text[parsed$token == "STR_CONST"]
  names <- parsed$text[parsed$token %in% c("SYMBOL", "SYMBOL_FUNCTION_CALL", "SYMBOL_SUB", "SYMBOL_FORMALS", "SPECIAL")]
  annotated <- grep("^[[:space:]]*#['*][[:space:]]*@[[:alpha:]]+", lines, value = TRUE)
  annotations <- sub("^[[:space:]]*#['*][[:space:]]*(@[[:alpha:]]+).*$", "\\1", annotated)
  c(names, texts, gsub("^[\"']|[\"']$", "", texts), annotations)
}

interface <- function(package) {
  lines <- readLines(test_file(file.path("interfaces", paste0(package, ".txt"))))
  lines <- lines[!startsWith(lines, "#")]
  reason <- ifelse(grepl(": ", lines, fixed = TRUE), sub("^[^:]*: ", "", lines), "")
  stats::setNames(reason, sub(": .*$", "", lines))
}

# What is in the list and no application uses; a method or an option by its own name.
check_use <- function(package, listed, files) {
  used <- unique(unlist(lapply(files, words_of)))
  wanted <- names(listed)[!nzchar(listed)]
  known <- gsub("\"|^.*[$]|^plumber[.]", "", wanted) %in% used | wanted %in% used
  check(paste("used by no application:", package), wanted[!known], character())
  excused <- names(listed)[nzchar(listed)]
  check(paste("used, though there is a reason for not:", package), intersect(excused, used), character())
}

of_plumber <- c(applications("plumber_beside", "plumber_options"), file.path(test_file("apps"), "plumber_run.R"))
of_restrserve <- applications("restrserve_style")
check("at least forty applications", length(of_plumber) + length(of_restrserve) >= 40L, TRUE)

listed <- interface("restrserve")
check_use("RestRserve", listed, of_restrserve)
salver <- start_host()
salver$prepare()
offered <- names(salver$restrserve_exports())
plain <- names(listed)[!grepl("[$]|^RestRserve[.]|^RESTRSERVE", names(listed)) & !nzchar(listed)]
check("exports that are not there", setdiff(plain, offered), character())
objects <- list(
  Application = salver$new_application(), BackendRserve = salver$new_backend(), Request = salver$new_request(),
  ContentHandlers = salver$state$content_handlers, HTTPError = salver$state$http_error, Logger = salver$new_logger(),
  Middleware = salver$new_middleware(), ETagMiddleware = salver$new_etag_middleware(), Response = salver$new_response(),
  Router = salver$new_router()
)
for (class in names(objects)) {
  members <- sub("^.*[$]", "", grep(paste0("^", class, "[$]"), names(listed), value = TRUE))
  check(paste("members of", class), setdiff(members, ls(objects[[class]])), character())
}

listed <- interface("plumber")
check_use("plumber", listed, of_plumber)
if (nzchar(system.file(package = "plumber"))) {
  methods_of <- function(name) {
    class <- get(name, asNamespace("plumber"))
    paste0(name, "$", setdiff(c(names(class$public_methods), names(class$active)), c("initialize", "print", "clone")))
  }
  there <- c(
    getNamespaceExports("plumber"), methods_of("Plumber"), methods_of("PlumberResponse"),
    paste0("plumber.", setdiff(names(formals(plumber::options_plumber)), "..."))
  )
  check("what plumber has and the list has not", setdiff(there, names(listed)), character())
}
finish()
