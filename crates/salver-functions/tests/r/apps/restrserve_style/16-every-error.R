library(RestRserve)
app <- Application$new()
app$logger$set_log_level("off")
makers <- list(
  HTTPError$bad_request, HTTPError$unauthorized, HTTPError$forbidden, HTTPError$not_found, HTTPError$method_not_allowed,
  HTTPError$not_acceptable, HTTPError$conflict, HTTPError$gone, HTTPError$length_required, HTTPError$precondition_failed,
  HTTPError$payload_too_large, HTTPError$uri_too_long, HTTPError$unsupported_media_type, HTTPError$range_not_satisfiable,
  HTTPError$unprocessable_entity, HTTPError$locked, HTTPError$failed_dependency, HTTPError$precondition_required,
  HTTPError$too_many_requests, HTTPError$request_header_fields_too_large, HTTPError$unavailable_for_legal_reasons,
  HTTPError$internal_server_error, HTTPError$not_implemented, HTTPError$bad_gateway, HTTPError$service_unavailable,
  HTTPError$gateway_timeout, HTTPError$version_not_supported, HTTPError$insufficient_storage, HTTPError$loop_detected,
  HTTPError$network_authentication_required
)
app$add_get("/raise/{n}", match = "regex", FUN = function(.req, .res) raise(makers[[as.integer(.req$get_param_path("n"))]]()))
app$add_get("/all", function(.req, .res) .res$set_body(vapply(makers, function(make) make()$status_code, 1L)))
app$add_get("/text", function(.req, .res) raise(HTTPError$not_found("it is not here")))
app$add_get("/headers", function(.req, .res) {
  raise(HTTPError$too_many_requests(body = "slower", headers = list("Retry-After" = "3")))
})
# An application may make errors of its own, from its own factory.
own <- RestRserve:::HTTPErrorFactory$new()
own$set_content_type("application/json")$set_encode(to_json)
other <- Application$new()
other$HTTPError <- own
app$add_get("/own", function(.req, .res) {
  answer <- raised <- tryCatch(raise(own$bad_request(list(own = TRUE))), error = function(e) e$response)
  own$reset()
  .res$set_body(c(answer$content_type, answer$encode(answer$body), own$bad_request()$content_type))
})
app

#> GET /all
#< 200 text/plain 400\n401\n403\n404\n405\n406\n409\n410\n411\n412\n413\n414\n415\n416\n422\n423\n424\n428\n429\n431\n451\n500\n501\n502\n503\n504\n505\n507\n508\n511
#> GET /raise/1
#< 400 text/plain 400 Bad Request
#> GET /raise/15
#< 422 text/plain 422 Unprocessable Entity
#> GET /raise/21
#< 451 text/plain 451 Unavailable For Legal Reasons
#> GET /raise/30
#< 511 text/plain 511 Network Authentication Required
#> GET /raise/31
#< 500 text/plain 500 Internal Server Error
#> GET /text
#< 404 text/plain it is not here
#> GET /headers
#< 429 text/plain slower
#> GET /own
#< 200 text/plain application/json\n{"own":true}\ntext/plain
