// One HTTP request of a login and its whole response, bounded in size and time.
#pragma once

#include <string>

#include "base/async.h"
#include "net/http_client.h"
#include "oauth/form.h"
#include "oauth/metadata.h"

namespace sallyport::oauth {

struct Response {
  unsigned status = 0;
  net::HttpHeaders headers{};
  std::string body{};
};

// Redirects are followed on the same server only. Errors are those of `net::HttpExchange`.
Task<Response> exchange(Destination to, net::HttpRequest request);

Task<Response> get_json(Destination to);
Task<Response> post_json(Destination to, std::string body);
Task<Response> post_form(Destination to, Fields fields, net::HttpHeaders headers);

}  // namespace sallyport::oauth
