#include "match/image.h"

namespace sallyport::match {

void ImageWriter::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

void ImageWriter::word(std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
}

void ImageWriter::text(std::string_view text) {
  number(text.size());
  bytes_.append(text);
}

std::uint64_t ImageReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; good_ && shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  good_ = false;
  return 0;
}

std::uint64_t ImageReader::word() {
  if (!good_ || rest_.size() < 8) {
    good_ = false;
    return 0;
  }
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) {
    value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
  }
  rest_.remove_prefix(8);
  return value;
}

std::string_view ImageReader::text() {
  const std::size_t size = count();
  const std::string_view found = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return found;
}

std::uint32_t ImageReader::below(std::uint64_t limit) {
  const std::uint64_t value = number();
  if (value >= limit) good_ = false;
  return good_ ? static_cast<std::uint32_t>(value) : 0;
}

std::size_t ImageReader::count(std::size_t bytes) {
  const std::uint64_t found = number();
  if (found > rest_.size() / bytes) good_ = false;
  return good_ ? found : 0;
}

}  // namespace sallyport::match
