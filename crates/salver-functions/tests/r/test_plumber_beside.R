# Applications in plumber's words, each asked through the runtime and through the real package over HTTP: status, header
# fields and bytes of every answer are the same. The requests stand at the end of each file, as
# `#> METHOD TARGET | field: value | body`.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
if (!requireNamespace("plumber", quietly = TRUE) || !requireNamespace("curl", quietly = TRUE)) {
  cat("plumber or curl is not installed: nothing to test\n")
  quit()
}
# Those that are named, or all.
files_in <- function(directory) {
  files <- sort(list.files(test_file(directory), "[.]R$", full.names = TRUE), method = "radix")
  named <- commandArgs(TRUE)
  if (length(named)) files[basename(files) %in% named] else files
}
files <- files_in("apps/plumber_beside")
alone <- files_in("apps/plumber_options")
# Starts the real package with files; gives the ports, and ends it with this process.
start_real <- function(files) {
  program <- file.path(R.home("bin"), "Rscript")
  program <- shQuote(c(program, "--vanilla", test_file("beside_plumber.R"), Sys.getpid(), files))
  real <- pipe(paste(c(program, "2>&1"), collapse = " "), "r")
  started <- character()
  # What the package prints while it starts stands before the line that is waited for.
  repeat {
    line <- readLines(real, 1L)
    if (!length(line)) stop("the real package did not start: ", paste(started, collapse = "\n"))
    numbers <- suppressWarnings(as.integer(strsplit(trimws(line), " ")[[1L]]))
    if (length(numbers) == length(files) + 1L && !anyNA(numbers)) break
    started <- c(started, line)
  }
  ended <- new.env()
  reg.finalizer(ended, function(...) tools::pskill(numbers[1L]), onexit = TRUE)
  list(ports = numbers[-1L], connection = real, ended = ended)
}

# Fields of the transport, and of the moment.
passing <- c("date", "content-length", "connection", "transfer-encoding", "content-encoding", "last-modified")

plain_answer <- function(status, fields, body) {
  fields <- fields[!tolower(names(fields)) %in% passing]
  fields <- sort(paste0(tolower(names(fields)), ": ", fields, recycle0 = TRUE), method = "radix")
  list(status = status, fields = fields, body = body)
}

ask_real <- function(port, request) {
  handle <- curl::new_handle(
    customrequest = request$method, path_as_is = TRUE, followlocation = FALSE, timeout = 60, forbid_reuse = TRUE,
    nobody = request$method == "HEAD"
  )
  # A connection for each request: httpuv answers HEAD with a body, which would begin the next answer.
  # Fields that curl would add are given, or taken away.
  fields <- c(accept = "*/*", "user-agent" = "test", "content-type" = "", request$fields)
  fields <- fields[!duplicated(names(fields), fromLast = TRUE)]
  if (nzchar(request$body)) curl::handle_setopt(handle, postfields = request$body)
  do.call(curl::handle_setheaders, c(list(handle), as.list(fields)))
  answer <- curl::curl_fetch_memory(paste0("http://127.0.0.1:", port, request$target), handle)
  lines <- curl::parse_headers(answer$headers)[-1L]
  plain_answer(answer$status_code, stats::setNames(sub("^[^:]*: *", "", lines), sub(":.*$", "", lines)), answer$content)
}

ask_salver <- function(salver, port, request) {
  fields <- c(host = paste0("127.0.0.1:", port), accept = "*/*", "user-agent" = "test", request$fields)
  fields <- fields[!duplicated(names(fields), fromLast = TRUE)]
  answer <- ask_whole(salver, request$target, request$method, fields, request$body)
  body <- answer$body
  if (answer$kind > 0L) body <- readBin(body, "raw", file.size(body))
  if (is.character(body)) body <- charToRaw(body)
  # The host sends none where there must be none.
  if (request$method == "HEAD") body <- raw()
  plain_answer(answer$status, answer$headers, body)
}

readable <- function(answer) {
  if (!any(answer$body == 0)) answer$body <- rawToChar(answer$body)
  answer
}

compare <- function(salver, file, port) {
  # Also one with nothing but assets offers a list.
  check(paste("the offer of", basename(file)), grepl("\"endpoints\":[", salver$load(file), fixed = TRUE), TRUE)
  for (request in requests_of(file)) {
    what <- paste(basename(file), request$method, request$target, request$body)
    check(what, readable(ask_salver(salver, port, request)), readable(ask_real(port, request)))
  }
}

salver <- start_again()
if (length(files)) {
  real <- start_real(files)
  for (i in seq_along(files)) compare(salver, files[i], real$ports[i])
}
# What these set counts for the whole process: each has its own.
for (file in alone) {
  real <- start_real(file)
  counts <- in_copy({
    compare(salver, file, real$ports)
    c(checks, failures)
  })
  checks <- counts[1L]
  failures <- counts[2L]
}
finish()
