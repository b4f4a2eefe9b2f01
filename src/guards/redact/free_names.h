// Makes the member names of one object unique: `x`, `x#2`, `x#3` (PI-62).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace sallyport::guards {

class FreeNames {
 public:
  void take(std::string_view name) { taken_.emplace(name); }

  std::string next_free(const std::string& name) {
    int& number = last_number_.try_emplace(name, 1).first->second;
    std::string candidate = name;
    while (!taken_.insert(candidate).second) candidate = name + "#" + std::to_string(++number);
    return candidate;
  }

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int> last_number_;  // so that a thousand equal marks need no search each
};

}  // namespace sallyport::guards
