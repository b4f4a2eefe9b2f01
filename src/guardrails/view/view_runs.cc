#include "guardrails/view/view_runs.h"

#include "guardrails/view/view_percent.h"

namespace sallyport::guardrails {

namespace {

// Both alphabets, with `-` and `_` as well as `+` and `/`.
int base64_value(char32_t character) {
  if (character >= 'A' && character <= 'Z') return static_cast<int>(character - 'A');
  if (character >= 'a' && character <= 'z') return static_cast<int>(character - 'a' + 26);
  if (character >= '0' && character <= '9') return static_cast<int>(character - '0' + 52);
  if (character == '+' || character == '-') return 62;
  if (character == '/' || character == '_') return 63;
  return -1;
}

}  // namespace

int RunDecoder::value_of(char32_t character) const {
  return kind_ == Kind::Base64 ? base64_value(character) : hex_value(character);
}

void RunDecoder::take(const match::Unit& unit, TextSink& sink) {
  const int value = value_of(unit.character);
  if (value >= 0) {
    if (state_ == State::Padding) end_run(sink);
    if (state_ != State::Skipping) add(unit, value, sink);
    return;
  }
  if (state_ == State::Outside) return;
  const bool may_be_padded = kind_ == Kind::Base64 && digits_ >= 2 && length_ >= kShortestRun;
  if (unit.character != '=' || !may_be_padded || state_ == State::Skipping) return end_run(sink);
  state_ = State::Padding;
  end_ = unit.end;
  if (digits_ + ++padding_ == group_size()) end_run(sink);
}

void RunDecoder::add(const match::Unit& unit, int value, TextSink& sink) {
  if (state_ == State::Outside) {
    state_ = State::Inside;
    sink.begin_run();
  }
  if (++length_ == kShortestRun) sink.run_counts();
  if (digits_ == 0) begin_ = unit.begin;
  end_ = unit.end;
  bits_ = (bits_ << (kind_ == Kind::Base64 ? 6 : 4)) | static_cast<std::uint32_t>(value);
  if (++digits_ == group_size()) emit_group(sink);
}

// Emits the bytes of the group; of an incomplete group only the complete bytes.
void RunDecoder::emit_group(TextSink& sink) {
  const unsigned bits = static_cast<unsigned>(digits_) * (kind_ == Kind::Base64 ? 6 : 4);
  digits_ = 0;
  for (unsigned done = 8; done <= bits; done += 8) {
    if (decoded_ == kMostDecodedOfARun) {
      state_ = State::Skipping;
      bytes_.flush(sink);
      sink.run_truncated();
      sink.end();
      break;
    }
    ++decoded_;
    bytes_.add(static_cast<unsigned char>(bits_ >> (bits - done)), begin_, end_, sink);
  }
  bits_ = 0;
}

void RunDecoder::end_run(TextSink& sink) {
  if (length_ < kShortestRun) {
    sink.drop_run();
  } else if (state_ != State::Skipping) {
    emit_group(sink);
    if (state_ != State::Skipping) {
      bytes_.flush(sink);
      sink.end();
    }
  }
  reset();
}

void RunDecoder::finish(TextSink& sink) {
  if (state_ != State::Outside) end_run(sink);
}

void RunDecoder::reset() {
  *this = RunDecoder(kind_);
}

std::optional<std::uint64_t> RunDecoder::pending_from() const {
  if (const auto from = bytes_.pending_from()) return from;
  if (digits_ == 0) return std::nullopt;
  return begin_;
}

}  // namespace sallyport::guardrails
