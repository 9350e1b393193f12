# Runs every test of the runtime, each in a process of its own; status 1 when one fails.

script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
tests <- sort(list.files(dirname(script), "^test_.*[.]R$", full.names = TRUE), method = "radix")
failed <- character()
for (test in tests) {
  cat("==", basename(test), "\n")
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(test)))
  if (status != 0L) failed <- c(failed, basename(test))
}
cat(length(tests) - length(failed), "of", length(tests), "tests passed\n")
if (length(failed)) {
  cat("failed:", failed, "\n")
  quit(status = 1L)
}
