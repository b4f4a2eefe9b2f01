// A policy that extends another one (RU-21).
#pragma once

#include "config/yaml.h"

namespace sallyport::policy {

// Adds the sections of `base` that `root` lacks. The rules of `base` come before those of `root`,
// without the rules that `root` drops.
Result<config::YamlNode> joined(const config::YamlNode& root, const std::string& file,
                                const config::YamlNode& base);

}  // namespace sallyport::policy
