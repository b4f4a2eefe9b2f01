// `ETag`, `If-None-Match` and `If-Match` (RFC 9110, section 13).
#pragma once

#include <string>
#include <string_view>

#include "api/route.h"

namespace sallyport::api {

// The tag with its quotes.
std::string etag_of(const Response& answer);
// True if the client already has the content with this tag.
bool has_already(const net::ServerRequest& request, std::string_view tag);
// False if `If-Match` names only other tags. `tag` is empty if there is no content.
bool may_match(const net::ServerRequest& request, std::string_view tag);

}  // namespace sallyport::api
