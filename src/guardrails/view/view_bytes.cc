#include "guardrails/view/view_bytes.h"

#include "match/utf8.h"

namespace sallyport::guardrails {

void ViewBytes::emit(char32_t character, std::size_t bytes, TextSink& sink) {
  const match::Unit unit{character, begins_[0], ends_[bytes - 1]};
  const auto close = [&](auto& list) {
    std::shift_left(list.begin(), list.end(), static_cast<std::ptrdiff_t>(bytes));
  };
  close(bytes_);
  close(begins_);
  close(ends_);
  size_ -= bytes;
  sink.character(unit);
}

void ViewBytes::add(unsigned char byte, std::uint64_t begin, std::uint64_t end, TextSink& sink) {
  bytes_[size_] = static_cast<char>(byte);
  begins_[size_] = begin;
  ends_[size_] = end;
  ++size_;
  while (size_ > 0) {
    const match::Decoded next = match::decode_first({bytes_.data(), size_});
    if (next.kind == match::Decoded::Kind::Unfinished) return;
    emit(next.character, next.size, sink);
  }
}

void ViewBytes::flush(TextSink& sink) {
  if (size_ > 0) emit(match::kReplacementCharacter, size_, sink);
}

std::optional<std::uint64_t> ViewBytes::pending_from() const {
  if (size_ == 0) return std::nullopt;
  return begins_[0];
}

}  // namespace sallyport::guardrails
