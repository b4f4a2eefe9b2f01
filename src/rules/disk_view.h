// The disk of this machine as rules see it. It opens nothing for reading except folders in which a
// glob is expanded.
#pragma once

#include "effects/file_view.h"

namespace sallyport::rules {

class DiskView final : public effects::FileView {
 public:
  std::optional<std::vector<std::string>> names(const std::string& folder,
                                                std::size_t most) const override;
  bool missing(const std::string& folder) const override;
  std::optional<std::string> resolve(const std::string& path) const override;
};

}  // namespace sallyport::rules
