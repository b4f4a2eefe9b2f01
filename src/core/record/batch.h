// The entries of one commit, in order. Adding an entry gives a handle; the commit turns handles
// into positions in the log.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "core/record/draft.h"

namespace sallyport::core {

class Batch {
 public:
  class Handle {
   public:
    Handle() = default;

   private:
    friend class Batch;
    friend class Written;
    explicit Handle(std::size_t index) : index_(index) {}
    std::size_t index_ = 0;
  };

  Handle add(Draft draft) {
    drafts_.push_back(std::move(draft));
    return Handle(drafts_.size() - 1);
  }
  void add(std::vector<Draft> drafts) {
    drafts_.insert(drafts_.end(), std::make_move_iterator(drafts.begin()),
                   std::make_move_iterator(drafts.end()));
  }

  // Valid until the next `add`.
  Draft& operator[](Handle handle) { return drafts_.at(handle.index_); }

  bool empty() const { return drafts_.empty(); }
  std::vector<Draft> take() && { return std::move(drafts_); }

 private:
  std::vector<Draft> drafts_;
};

// The positions of the entries of a batch after its commit.
class Written {
 public:
  Written() = default;
  // `before`: the number of entries that the commit has before the batch.
  explicit Written(std::vector<Position> positions, std::size_t before = 0)
      : positions_(std::move(positions)), before_(before) {}

  const Position& operator[](Batch::Handle handle) const {
    return positions_.at(before_ + handle.index_);
  }

 private:
  std::vector<Position> positions_;
  std::size_t before_ = 0;
};

}  // namespace sallyport::core
