
#include "base/try.h"
#include "core/event/topic_event.h"
#include "embed/engine_body.h"
#include "ledger/read/topics.h"

namespace sallyport {

namespace {

// Ids count from 1. A number that cannot be an id is after every event.
std::int64_t id_of(std::uint64_t after) {
  constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(after, kLast));
}

Task<std::uint64_t> append(core::RecordLog& records, core::Draft draft) {
  std::vector<core::Draft> rows;
  rows.push_back(std::move(draft));
  const auto written = co_await records.append(std::move(rows), core::Urgency::Reports);
  if (!written) co_return std::unexpected(written.error());
  co_return written->front().sequence;
}

}  // namespace

TopicFollower::TopicFollower(std::unique_ptr<ledger::Subscription> subscription)
    : subscription_(std::move(subscription)) {}
TopicFollower::TopicFollower(TopicFollower&&) noexcept = default;
TopicFollower::~TopicFollower() = default;

Result<std::optional<TopicFollower::Message>> TopicFollower::next() {
  return subscription_->next();
}

bool TopicFollower::ended() const {
  return subscription_->ended();
}

Result<std::uint64_t> Engine::publish(TopicEvent event, const Subject& subject) {
  Subject about = subject;
  about.policy_hash = body_->policy_hash;
  SALLYPORT_TRY(core::Draft draft, core::program_draft(std::move(event), about));
  return body_->run(append(*body_->ledger, std::move(draft)));
}

Result<TopicPage> Engine::read_topic(const std::string& topic, std::uint64_t after,
                                     std::size_t limit) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  return ledger::read_topic(*body_->store, topic, id_of(after), limit);
}

Result<TopicFollower> Engine::follow(const std::string& topic, std::uint64_t after,
                                     std::size_t queue) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  SALLYPORT_TRY(ledger::Subscription opened,
                ledger::Subscription::open(*body_->store, topic, id_of(after), queue));
  return TopicFollower(std::make_unique<ledger::Subscription>(std::move(opened)));
}

Result<std::uint64_t> Engine::cursor(const std::string& topic, const std::string& consumer) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  return ledger::cursor_of(*body_->store, topic, consumer);
}

Result<void> Engine::move_cursor(const std::string& topic, const std::string& consumer,
                                 std::uint64_t id) {
  SALLYPORT_TRY(const Visitors::Visit visit, body_->visitors.enter());
  return ledger::move_cursor(*body_->ledger, topic, consumer, id);
}

}  // namespace sallyport
