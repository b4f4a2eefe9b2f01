// The table of routes as an OpenAPI 3.1 document.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "api/route.h"

namespace sallyport::api {

json::object openapi(const RouteTable& table, std::string_view version);

}  // namespace sallyport::api
