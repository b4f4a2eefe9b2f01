// Tells the callers of one commit, in runs: one hand-over to an executor for all that wait there,
// instead of a lock and a wake-up for each.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <utility>
#include <vector>

#include "ledger/committer.h"

namespace sallyport::ledger {

class Answers {
 public:
  Answers() = default;
  Answers(const Answers&) = delete;
  ~Answers() { hand_over(); }

  void add(Group& group);

 private:
  using Told = std::pair<std::move_only_function<void(Result<Positions>)>, Result<Positions>>;

  void hand_over();
  static void tell(const boost::asio::any_io_executor& executor, std::vector<Told> waiting);

  boost::asio::any_io_executor executor_;
  std::vector<Told> waiting_;
};

}  // namespace sallyport::ledger
