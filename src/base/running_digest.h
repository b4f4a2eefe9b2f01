// SHA-256 of a text that comes in pieces. Belongs to one thread at a time.
#pragma once

#include <memory>
#include <string_view>

#include "base/digest.h"

namespace sallyport {

class RunningDigest {
 public:
  RunningDigest();
  RunningDigest(RunningDigest&&) noexcept;
  RunningDigest& operator=(RunningDigest&&) noexcept;
  ~RunningDigest();

  void add(std::string_view piece);
  Hash finish();  // of all pieces one after the other; nothing is added afterwards

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace sallyport
