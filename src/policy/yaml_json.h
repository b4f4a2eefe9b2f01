// YAML as JSON, and back from a place in the JSON to the place in the file.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "policy/yaml.h"
#include "sallyport/json.h"

namespace sallyport::policy {

// Plain scalars by YAML's core schema: null, booleans, numbers, else text.
Result<json::value> to_json(const YamlNode& node, const std::string& file);

// The node a JSON Pointer leads to, or the last one on the way that is there. `key`: the key of
// that member rather than its value.
const YamlNode& node_at(const YamlNode& root, std::string_view pointer, bool key = false);

}  // namespace sallyport::policy
