#include "guardrails/stream/open_gate.h"

#include "match/utf8.h"

namespace sallyport::guardrails {

namespace {

class OpenGate final : public TextGate {
 public:
  Result<Passed> push(std::string_view delta) override {
    if (finished_) return fail(ErrorCode::Conflict, "the stream is finished, no text can follow");
    pushed_ += delta.size();
    rest_.append(delta);
    return pass(false);
  }

  Result<Passed> finish() override {
    if (finished_) return fail(ErrorCode::Conflict, "the stream is finished already");
    finished_ = true;
    return pass(true);
  }

  std::uint64_t bytes_in() const override { return pushed_; }
  std::uint64_t held() const override { return rest_.size(); }
  std::uint64_t invalid_utf8() const override { return invalid_; }
  std::vector<Coverage> coverage() const override { return {}; }
  std::size_t state_bytes() const override { return sizeof *this; }

 private:
  Passed pass(bool last) {
    std::size_t whole = 0;
    while (whole < rest_.size()) {
      const match::Decoded next = match::decode_first(std::string_view(rest_).substr(whole));
      const bool unfinished = next.kind == match::Decoded::Kind::Unfinished;
      if (unfinished && !last) break;
      if (unfinished || next.kind == match::Decoded::Kind::IllFormed) ++invalid_;
      whole += unfinished ? rest_.size() - whole : next.size;
    }
    Passed passed;
    if (whole == 0) return passed;
    const std::uint64_t start = pushed_ - rest_.size();
    passed.pieces.push_back({.start = start,
                             .end = start + whole,
                             .text = match::well_formed(std::string_view(rest_).substr(0, whole))});
    rest_.erase(0, whole);
    return passed;
  }

  std::string rest_;
  std::uint64_t pushed_ = 0;
  std::uint64_t invalid_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<TextGate> open_gate() {
  return std::make_unique<OpenGate>();
}

}  // namespace sallyport::guardrails
