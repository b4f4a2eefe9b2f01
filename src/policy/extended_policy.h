// A policy that extends another one (RU-21).
#pragma once

#include "policy/yaml.h"

namespace sallyport::policy {

// The extending document with the sections of `base` that it lacks. The rules of `base` stand in
// front of its own, without those that it drops.
Result<YamlNode> joined(const YamlNode& root, const std::string& file, const YamlNode& base);

}  // namespace sallyport::policy
