#include "match/utf8.h"

namespace sallyport::match {

namespace {

unsigned byte_at(std::string_view bytes, std::size_t place) {
  return static_cast<unsigned char>(bytes[place]);
}

// The length of the sequence that a lead byte starts; 0: it is not a lead byte.
std::size_t length_of(unsigned lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte is narrower than the rest: it rules out long forms, surrogates, too large values.
bool follows(unsigned lead, std::size_t place, unsigned byte) {
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (place == 1 && lead == 0xE0) low = 0xA0;
  if (place == 1 && lead == 0xED) high = 0x9F;
  if (place == 1 && lead == 0xF0) low = 0x90;
  if (place == 1 && lead == 0xF4) high = 0x8F;
  return byte >= low && byte <= high;
}

}  // namespace

Decoded decode_long(std::string_view bytes) {
  const unsigned lead = byte_at(bytes, 0);
  const std::size_t length = length_of(lead);
  if (length == 0) return {Decoded::Kind::IllFormed, kReplacementCharacter, 1};
  char32_t character = lead & (0x7Fu >> length);
  for (std::size_t place = 1; place < length; ++place) {
    if (place == bytes.size()) return {Decoded::Kind::Unfinished, kReplacementCharacter, place};
    const unsigned byte = byte_at(bytes, place);
    if (!follows(lead, place, byte)) {
      return {Decoded::Kind::IllFormed, kReplacementCharacter, place};
    }
    character = (character << 6) | (byte & 0x3F);
  }
  return {Decoded::Kind::Character, character, length};
}

std::optional<char32_t> character_before(std::string_view bytes, std::size_t place) {
  if (place == 0) return std::nullopt;
  std::size_t from = place - 1;
  // A lead byte always begins a part, and no part is longer than 4 bytes.
  while (from > 0 && place - from < 4 && (byte_at(bytes, from) & 0xC0) == 0x80) --from;
  for (;;) {
    const Decoded next = decode_first(bytes.substr(from, place - from));
    from += next.size;
    if (from < place) continue;
    return next.kind == Decoded::Kind::Character ? next.character : kReplacementCharacter;
  }
}

void append_utf8(std::string& text, char32_t character) {
  const auto push = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) return push(character);
  if (character < 0x800) {
    push(0xC0 | (character >> 6));
  } else if (character < 0x10000) {
    push(0xE0 | (character >> 12));
    push(0x80 | ((character >> 6) & 0x3F));
  } else {
    push(0xF0 | (character >> 18));
    push(0x80 | ((character >> 12) & 0x3F));
    push(0x80 | ((character >> 6) & 0x3F));
  }
  push(0x80 | (character & 0x3F));
}

void append_well_formed(std::string& text, std::string_view bytes) {
  std::size_t good = 0;  // bytes that are passed on as they are
  for (std::size_t at = 0; at < bytes.size();) {
    const Decoded next = decode_first(bytes.substr(at));
    at += next.size;
    if (next.kind == Decoded::Kind::Character) continue;
    text.append(bytes.substr(good, at - next.size - good));
    append_utf8(text, kReplacementCharacter);
    good = at;
  }
  text.append(bytes.substr(good));
}

std::string well_formed(std::string_view bytes) {
  std::string text;
  append_well_formed(text, bytes);
  return text;
}

}  // namespace sallyport::match
