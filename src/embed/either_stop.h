// Combines two stop tokens into one.
#pragma once

#include <stop_token>
#include <utility>

namespace sallyport {

// Its token is stopped when either of the two tokens is stopped.
class EitherStop {
 public:
  EitherStop(std::stop_token one, std::stop_token other)
      : on_one_(std::move(one), Pass{source_}), on_other_(std::move(other), Pass{source_}) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Pass {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Pass> on_one_;
  std::stop_callback<Pass> on_other_;
};

}  // namespace sallyport
