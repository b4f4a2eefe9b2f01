// Converts YAML to JSON, and finds the YAML node of a place in the JSON.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "config/yaml.h"
#include "sallyport/json.h"

namespace sallyport::config {

// Reads plain scalars by YAML's core schema: null, booleans, numbers, otherwise text.
Result<json::value> to_json(const YamlNode& node, const std::string& file);

// The node that a JSON Pointer names, or its last ancestor that exists. `key`: returns the key of
// the member instead of its value.
const YamlNode& node_at(const YamlNode& root, std::string_view pointer, bool key = false);

}  // namespace sallyport::config
