// Real tools for the demo's scripted agent, and the guards around them.
#pragma once

#include <filesystem>
#include <memory>

#include "base/entropy.h"
#include "core/call/upstream.h"
#include "core/plan/guard.h"
#include "core/plan/plan.h"

namespace sallyport::app {

// read_file, write_file and shell, inside one folder as far as they are let.
class DemoTools final : public core::Upstream {
 public:
  explicit DemoTools(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override;

 private:
  std::filesystem::path folder_;
};

// The first door refuses paths outside `folder`, asks before a deletion and keeps deployments in
// the shadow; the second withholds marked documents, tells people about payments and masks secrets.
Result<std::shared_ptr<const core::Plan>> demo_plan(const std::filesystem::path& folder,
                                                    std::string fingerprint_key, const Clock& clock,
                                                    Entropy& entropy);

}  // namespace sallyport::app
