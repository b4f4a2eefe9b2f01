// `${NAME}` in the texts of a configuration stands for an environment variable, so its value is
// neither in the file nor in its history. `$${` is a plain `${`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/yaml.h"

namespace sallyport::config {

// No value: the variable is not set, or is empty.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
Variables variables_of_this_process();

// Replaces variables in values, never in keys. The inserted value is always text, and is not
// expanded again. `InvalidInput` names the place, the key and the variable.
Result<void> put_variables(YamlNode& node, const std::string& key, const std::string& file,
                           const Variables& variables);

}  // namespace sallyport::config
