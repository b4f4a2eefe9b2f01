// Lists of entries that travel in one commit.
#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "core/record/recorder.h"

namespace sallyport::core {

inline void append(std::vector<Draft>& drafts, std::vector<Draft> more) {
  drafts.insert(drafts.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

}  // namespace sallyport::core
