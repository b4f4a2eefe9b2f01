// The disk of a case of `policy test`. It contains only what the case names (RU-75).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "effects/file_view.h"

namespace sallyport::rules {

class CaseView final : public effects::FileView {
 public:
  // `files` are absolute paths; their parent folders exist too. `links` maps paths to targets.
  CaseView(const std::vector<std::string>& files, std::map<std::string, std::string> links);

  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override;
  std::optional<std::string> resolve(const std::string& path) const override;

 private:
  std::map<std::string, std::set<std::string>> names_;  // by folder
  std::map<std::string, std::string> links_;
};

}  // namespace sallyport::rules
