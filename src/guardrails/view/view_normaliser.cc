#include "guardrails/view/view_normaliser.h"

#include "base/look_alike.h"
#include "match/utf8.h"

namespace sallyport::guardrails {

Normaliser::Normaliser(std::span<const View> normalisers) {
  for (const View view : normalisers) {
    strips_ = strips_ || view == View::Strip;
    composes_ = composes_ || view == View::Nfkc;
    replaces_ = replaces_ || view == View::Confusables;
  }
}

std::span<const match::Unit> Normaliser::take(const match::Unit& unit) {
  done_.clear();
  if (strips_) {
    stripped_.clear();
    stripper_.take(unit, stripped_);
    for (const match::Unit& left : stripped_) compose(left);
  } else {
    compose(unit);
  }
  replace_look_alikes();
  return done_;
}

std::span<const match::Unit> Normaliser::finish() {
  done_.clear();
  stripper_.reset();
  composer_.flush(done_);
  replace_look_alikes();
  return done_;
}

void Normaliser::compose(const match::Unit& unit) {
  if (composes_) {
    composer_.take(unit, done_);
  } else {
    done_.push_back(unit);
  }
}

void Normaliser::replace_look_alikes() {
  if (!replaces_) return;
  for (match::Unit& unit : done_) unit.character = look_alike(unit.character);
}

void Normaliser::reset() {
  stripper_.reset();
  composer_.reset();
}

// Characters in the composer are before those in the stripper.
std::optional<std::uint64_t> Normaliser::pending_from() const {
  if (const auto from = composer_.pending_from()) return from;
  return stripper_.pending_from();
}

std::string normalised(std::string_view word, std::span<const View> normalisers) {
  Normaliser normaliser(normalisers);
  std::string out;
  const auto add = [&](std::span<const match::Unit> units) {
    for (const match::Unit& unit : units) match::append_utf8(out, unit.character);
  };
  while (!word.empty()) {
    const match::Decoded next = match::decode_first(word);
    add(normaliser.take({next.character, 0, 0}));
    word.remove_prefix(next.size);
  }
  add(normaliser.finish());
  return out;
}

}  // namespace sallyport::guardrails
