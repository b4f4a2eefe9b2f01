// `${NAME}` in the texts of a configuration: what stands in the environment of the process, and so
// neither in the file nor in its history. `$${` is a plain `${`.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "policy/yaml.h"

namespace sallyport::app {

// Nothing: it is not set, or to nothing.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;
Variables variables_of_this_process();

// In values, never in keys. What is put in is text, whatever it looks like, and is not looked at
// again. `InvalidInput` names the place, the key and the variable.
Result<void> put_variables(policy::YamlNode& node, const std::string& key, const std::string& file,
                           const Variables& variables);

}  // namespace sallyport::app
