// Answers the callers of one commit in batches: one post to an executor for all callers on it,
// instead of a lock and a wake-up for each.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <vector>

#include "ledger/write/committer.h"

namespace sallyport::ledger {

class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) = delete;
  ~Answers() { hand_over(); }

  // Takes the group along, so that the memory of its caller's thread is freed there.
  void add(Group group);

 private:
  void hand_over();
  static void deliver(const boost::asio::any_io_executor& executor, std::vector<Group> waiting);

  std::vector<Group> waiting_;  // all of one executor
};

}  // namespace sallyport::ledger
