// Marks the one task of a loop that does some work, for which others wait. The destructor ends the
// turn on every path and rings the bell for the others.
#pragma once

#include "base/bell.h"

namespace sallyport {

class Turn {
 public:
  static constexpr const char* kOver = "turn";

  Turn(bool& busy, Bell& bell) : busy_(busy), bell_(bell) { busy_ = true; }
  Turn(const Turn&) = delete;
  ~Turn() {
    busy_ = false;
    bell_.ring(kOver);
  }

 private:
  bool& busy_;
  Bell& bell_;
};

}  // namespace sallyport
