// A program that answers questions about calls instead of people.
#pragma once

#include "base/async.h"
#include "sallyport/approval.h"

namespace sallyport::core {

// `const` and callable from any thread.
class Approver {
 public:
  virtual ~Approver() = default;
  virtual Task<Reply> answer(Question question) const = 0;
};

}  // namespace sallyport::core
