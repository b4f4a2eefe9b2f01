// Keeps drafts in memory, and refuses them when a test says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "core/recorder.h"

namespace sallyport::test {

class FakeRecorder final : public core::Recorder {
 public:
  Task<std::vector<core::Position>> append(std::vector<core::Draft> drafts,
                                           core::Urgency urgency) override {
    std::optional<Error>& refusal =
        urgency == core::Urgency::Announces ? refuse_announcements : refuse_reports;
    if (refusal) co_return std::unexpected(*refusal);
    std::vector<core::Position> positions;
    for (core::Draft& draft : drafts) {
      positions.push_back({written.size(), "id-" + std::to_string(written.size())});
      written.push_back(std::move(draft));
    }
    co_return positions;
  }

  void owe(std::vector<core::Draft> drafts) override {
    for (core::Draft& draft : drafts) owed.push_back(std::move(draft));
  }

  const std::string& instance_id() const override { return instance; }

  std::string instance = "instance-1";
  std::optional<Error> refuse_announcements;
  std::optional<Error> refuse_reports;
  std::vector<core::Draft> written;
  std::vector<core::Draft> owed;
};

}  // namespace sallyport::test
