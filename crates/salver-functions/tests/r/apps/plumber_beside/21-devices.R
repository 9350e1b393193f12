draw <- function(size = 1) {
  plot.new()
  rect(0, 0, as.numeric(size), 1, col = "red")
}

#* @get /png
#* @serializer png list(width = 60, height = 40)
draw

#* @get /jpeg
#* @serializer jpeg list(width = 60, height = 40)
draw

#* @get /bmp
#* @serializer bmp list(width = 20, height = 10)
draw

#* @get /tiff
#* @serializer tiff list(width = 20, height = 10)
draw

#* @get /svg
#* @serializer svg list(width = 2, height = 2)
draw

#* @get /stop
#* @serializer png
function() stop("no plot")

#* @plumber
function(pr) {
  first_bytes <- function(value) {
    # A PDF has the time in it.
    if (identical(value$headers$`Content-Type`, "application/pdf")) value$body <- value$body[1:5]
    value
  }
  pr |>
    pr_get("/made-png", draw, serializer = serializer_png(width = 30, height = 30)) |>
    pr_get("/made-jpeg", draw, serializer = serializer_jpeg(width = 30, height = 30, quality = 50)) |>
    pr_get("/made-bmp", draw, serializer = serializer_bmp(width = 9, height = 9)) |>
    pr_get("/made-tiff", draw, serializer = serializer_tiff(width = 9, height = 9)) |>
    pr_get("/made-svg", draw, serializer = serializer_svg(width = 1, height = 1)) |>
    pr_get("/made-pdf", draw, serializer = serializer_pdf(width = 2, height = 2)) |>
    pr_get("/device", draw, serializer = serializer_device("image/x-own", function(filename, ...) {
      grDevices::png(filename, width = 12, height = 12)
    })) |>
    pr_get("/device-off", draw, serializer = endpoint_serializer(
      serializer = serializer_text(function(x) paste("drawn", is.null(x))),
      preexec_hook = function() grDevices::pdf(NULL), postexec_hook = function() grDevices::dev.off()
    )) |>
    pr_hook("postserialize", first_bytes)
}

#> GET /png
#> GET /png?size=0.5
#> GET /jpeg
#> GET /bmp
#> GET /tiff
#> GET /svg
#> GET /stop
#> GET /made-png
#> GET /made-jpeg
#> GET /made-bmp
#> GET /made-tiff
#> GET /made-svg
#> GET /made-pdf
#> GET /device
#> GET /device-off
