// A JSON Pointer in which `*` stands for every member or item (CG-40).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::grants {

class Selector {
 public:
  // No value for text that is not a JSON Pointer.
  static std::optional<Selector> parse(std::string_view text);

  // The values that it selects; may be empty.
  std::vector<const json::value*> select(const json::value& value) const;

 private:
  struct Step {
    std::string name;
    bool any = false;
  };
  std::vector<Step> steps_;
};

}  // namespace sallyport::grants
