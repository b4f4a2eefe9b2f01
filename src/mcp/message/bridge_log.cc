#include "mcp/message/bridge_log.h"

#include <boost/json.hpp>
#include <charconv>
#include <memory>
#include <utility>

#include "base/try.h"

namespace sallyport::mcp {

namespace {

class Added final : public core::FactChange {
 public:
  Added(std::string feature, std::uint64_t more) : feature_(std::move(feature)), more_(more) {}

  Result<std::vector<core::Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const auto before, stored(kDegradedSpace, feature_));
    const std::string text = before.value_or("0");
    std::uint64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return std::vector{
        core::Fact{std::string(kDegradedSpace), feature_, std::to_string(count + more_)}};
  }

 private:
  std::string feature_;
  std::uint64_t more_;
};

}  // namespace

bool BridgeLog::note(std::string_view feature) {
  ++counts_[std::string(feature)];
  return !std::exchange(writing_, true);
}

Async<void> BridgeLog::write() {
  while (!counts_.empty()) {
    const std::map<std::string, std::uint64_t> counts = std::exchange(counts_, {});
    core::Draft draft{
        .kind = core::Kind::Topic,
        .subject = Subject{.server = server_},
        .topic = "bridge",
        .body = {{"kind", "bridge_degraded"}, {"features", json::value_from(counts)}}};
    for (const auto& [feature, count] : counts) {
      draft.changes.push_back(std::make_shared<const Added>(feature, count));
    }
    std::vector<core::Draft> drafts;
    drafts.push_back(std::move(draft));
    (void)co_await records_.append(std::move(drafts), core::Urgency::Reports);
  }
  writing_ = false;
}

}  // namespace sallyport::mcp
