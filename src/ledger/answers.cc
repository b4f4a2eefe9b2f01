#include "ledger/answers.h"

#include <boost/asio/post.hpp>

namespace sallyport::ledger {

void Answers::add(Group& group) {
  if (!group.executor) return group.done(std::move(group.result));
  if (executor_ != group.executor) hand_over();
  executor_ = group.executor;
  waiting_.emplace_back(std::move(group.done), std::move(group.result));
}

void Answers::hand_over() {
  if (!waiting_.empty()) tell(executor_, std::exchange(waiting_, {}));
}

void Answers::tell(const boost::asio::any_io_executor& executor, std::vector<Told> waiting) {
  // Whoever throws when he is told does not keep the others from hearing.
  struct Rest {
    boost::asio::any_io_executor executor;
    std::vector<Told> waiting;
    std::size_t next = 0;
    ~Rest() {
      if (next == 0 || next >= waiting.size()) return;
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(next));
      tell(executor, std::move(waiting));
    }
  };
  boost::asio::post(executor, [executor, waiting = std::move(waiting)]() mutable {
    Rest rest{executor, std::move(waiting)};
    while (rest.next < rest.waiting.size()) {
      auto& [done, result] = rest.waiting[rest.next++];
      done(std::move(result));
    }
  });
}

}  // namespace sallyport::ledger
