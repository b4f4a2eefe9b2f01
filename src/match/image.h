// Serialises compiled data, with the same bytes on every machine. The input of a reader may be
// damaged: it never reads past the end and never allocates more than the bytes can hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sallyport::match {

class ImageWriter {
 public:
  void number(std::uint64_t value);  // in 1 to 10 bytes, small ones in few
  void word(std::uint64_t value);    // in 8
  void text(std::string_view text);

  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After the first error it is no longer `good` and returns zeros.
class ImageReader {
 public:
  explicit ImageReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number();
  std::uint64_t word();
  std::string_view text();
  // Reads a number below `limit`.
  std::uint32_t below(std::uint64_t limit);
  // Reads the number of following items, each of at least `bytes` bytes.
  std::size_t count(std::size_t bytes = 1);

  void spoil() { good_ = false; }
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace sallyport::match
