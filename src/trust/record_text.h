// Reads one trust record as text and gives back the bytes that its hash is over: keys sorted by
// their UTF-8 bytes at every level, no blanks, numbers exactly as they were written (TR-2, TR-21).
// Belongs to one thread, and keeps its buffers from record to record.
//
//   RecordText record;
//   SALLYPORT_CHECK_OK(record.read(text));
//   record.entry_hash() == record.text("entry_hash");
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::trust {

class RecordText {
 public:
  static constexpr std::size_t kMaxBytes = 1 << 20;

  // `InvalidInput`: not one JSON object, a name twice, not UTF-8, nested over 64, over 1 MiB.
  Result<void> read(std::string_view text);

  // A member's value in hashed form, for example `"success"` or `null`; empty: it is not there.
  std::string_view member(std::string_view name) const;
  // The value of a member that is a string without escapes.
  std::optional<std::string_view> text(std::string_view name) const;
  std::optional<std::uint64_t> number(std::string_view name) const;

  std::string_view hashed() const { return hashed_; }
  std::string entry_hash() const;

 private:
  struct Member {
    std::size_t name = 0;  // in names_
    std::size_t name_end = 0;
    std::size_t begin = 0;  // in out_, with name and colon
    std::size_t value = 0;
    std::size_t end = 0;
  };
  static constexpr unsigned kMaxDepth = 64;

  std::string_view name_of(const Member& member) const;
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks();
  bool value(unsigned depth);
  bool object(unsigned depth, bool top);
  bool array(unsigned depth);
  bool members(unsigned depth);
  bool string(std::string& out);
  bool escape(std::string& decoded);
  bool number();
  bool word(std::string_view word);
  bool fault(std::string_view what);

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;              // the object in hashed form, `entry_hash` included
  std::string names_;            // of members that are being read, decoded
  std::string sorting_;          // scratch
  std::string decoded_;          // scratch
  std::vector<Member> open_;     // of objects that are being read
  std::vector<Member> members_;  // of the record itself, sorted
  std::string hashed_;
  std::string fault_;
};

}  // namespace sallyport::trust
