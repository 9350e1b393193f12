# Applications in RestRserve's words, as its documentation has them. The requests stand at the end of each file, as
# `#> METHOD TARGET | field: value | body`, each with what the package answers, as `#< STATUS TYPE BODY`.
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "host.R"))
files <- sort(list.files(test_file("apps/restrserve_style"), "[.]R$", full.names = TRUE), method = "radix")

ask_all <- function(file) {
  lines <- readLines(file)
  requests <- requests_of(file)
  wanted <- sub("^#< ", "", grep("^#< ", lines, value = TRUE))
  if (length(requests) != length(wanted)) stop(file, ": as many answers as requests expected")
  invisible(salver$load(file))
  for (i in seq_along(requests)) {
    request <- requests[[i]]
    answer <- ask_whole(salver, request$target, request$method, c(host = "x", request$fields), request$body)
    got <- paste(answer$status, answer$headers[["Content-Type"]], gsub("\n", "\\n", answer$body, fixed = TRUE))
    check(paste(basename(file), request$method, request$target, request$body), got, wanted[i])
  }
}

# Each file in a process of its own, as the host runs them.
salver <- start_host()
for (file in files) {
  counts <- in_copy({
    ask_all(file)
    c(checks, failures)
  })
  checks <- counts[1L]
  failures <- counts[2L]
}
finish()
