// Reads the settings of a guard in a policy. An unknown member is an error, because its author
// expects an effect.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::guards {

// `InvalidInput`: not an object, or it has members other than `known`. Messages name it `where`.
Result<const json::object*> settings_object(const json::value& json, std::string_view where,
                                            std::initializer_list<std::string_view> known);

// An absent member is empty.
Result<const json::object*> member_object(const json::object& object, std::string_view name);
Result<const json::array*> member_array(const json::object& object, std::string_view name);

// A count of bytes or items, 1 to 2^30.
Result<std::uint64_t> size_setting(const json::object& object, std::string_view name,
                                   std::uint64_t otherwise);

}  // namespace sallyport::guards
