// Who asks an authorization server for something that many wait for. One at a time, however it
// ends; the others hear the bell.
#pragma once

#include "base/bell.h"

namespace sallyport::oauth {

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

}  // namespace sallyport::oauth
