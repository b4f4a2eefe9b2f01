// Helpers that build JSON Schema for the documentation of routes.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "sallyport/json.h"

namespace sallyport::api::schema {

json::object text();
json::object number();
json::object truth();
json::object any();
json::object object();  // with any members
json::object or_null(json::object of);
json::object list(json::object items);
json::object one_of(std::initializer_list<std::string_view> words);

using Members = std::initializer_list<std::pair<std::string_view, json::object>>;
// All of `needed` are required; other members are allowed.
json::object object(Members needed, Members optional = {});
// No other members are allowed.
json::object exact(Members needed, Members optional = {});
// The shape that all lists have.
json::object page(json::object items);

}  // namespace sallyport::api::schema
