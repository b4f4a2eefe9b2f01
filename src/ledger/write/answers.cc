#include "ledger/write/answers.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

namespace sallyport::ledger {

void Answers::add(Group group) {
  if (!group.executor) return group.done(std::move(group.result));
  if (!waiting_.empty() && waiting_.front().executor != group.executor) hand_over();
  waiting_.push_back(std::move(group));
}

void Answers::hand_over() {
  if (waiting_.empty()) return;
  const boost::asio::any_io_executor executor = waiting_.front().executor;
  deliver(executor, std::exchange(waiting_, {}));
}

void Answers::deliver(const boost::asio::any_io_executor& executor, std::vector<Group> waiting) {
  // An exception of one caller does not keep the others from their answers.
  struct Rest {
    std::vector<Group> waiting;
    std::size_t next = 0;
    ~Rest() {
      if (next == 0 || next >= waiting.size()) return;
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(next));
      const boost::asio::any_io_executor executor = waiting.front().executor;
      deliver(executor, std::move(waiting));
    }
  };
  boost::asio::post(executor, [waiting = std::move(waiting)]() mutable {
    Rest rest{std::move(waiting)};
    while (rest.next < rest.waiting.size()) {
      Group& group = rest.waiting[rest.next++];
      group.done(std::move(group.result));
    }
  });
}

}  // namespace sallyport::ledger
