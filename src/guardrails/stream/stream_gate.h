// The gate of a stream with at least one check.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "guardrails/check/compiled.h"
#include "guardrails/stream/gate.h"
#include "guardrails/view/views.h"
#include "match/stream.h"

namespace sallyport::guardrails {

class StreamGate final : public TextGate {
 public:
  // `coverage` says which checks run; at least one does.
  StreamGate(std::shared_ptr<const Compiled> compiled, Stage stage, std::vector<Coverage> coverage);

  Result<Passed> push(std::string_view delta) override;
  Result<Passed> finish() override;
  std::uint64_t bytes_in() const override { return bytes_in_; }
  std::uint64_t held() const override;
  std::uint64_t invalid_utf8() const override;
  std::vector<Coverage> coverage() const override;
  std::size_t state_bytes() const override;

 private:
  void open(Stage stage);
  // Runs one step of the stream and returns its output. If the engine fails, it blocks.
  template <class Step>
  Passed pass(Step step);
  Passed passed_of(match::Output output) const;
  Hit hit_of_stream(const match::Hit& found) const;
  Passed fail_closed();

  std::shared_ptr<const Compiled> compiled_;
  std::shared_ptr<const CheckSet> set_;
  std::vector<Coverage> coverage_;
  const Views* views_ = nullptr;         // the views of the stream, if checks have any
  std::optional<match::Stream> stream_;  // no value: the engine has failed
  std::uint64_t bytes_in_ = 0;
  bool blocked_ = false;
  bool finished_ = false;
};

}  // namespace sallyport::guardrails
