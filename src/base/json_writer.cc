#include "base/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/exact_numbers.h"

namespace sallyport {

namespace {

template <class Integer>
std::string_view digits_of(Integer number, std::span<char> buffer) {
  char* const begin = buffer.data();
  return {begin, std::to_chars(begin, begin + buffer.size(), number).ptr};
}

}  // namespace

CanonicalWriter::Level CanonicalWriter::begin_object() {
  if (in_array_) separate_items();
  const Level outer{first_, sorted_, in_array_};
  first_ = members_.size();
  sorted_ = true;
  in_array_ = false;
  write_char('{');
  return outer;
}

void CanonicalWriter::end_object(const Level& outer) {
  if (!sorted_) sort_members();
  members_.erase(members_.begin() + first_, members_.end());
  first_ = outer.first;
  sorted_ = outer.sorted;
  in_array_ = outer.in_array;
  write_char('}');
}

// Members are separated by commas; each starts at its quote.
void CanonicalWriter::sort_members() {
  const std::size_t begin = members_[first_].at;
  struct Written {
    std::string_view name;
    std::string_view text;
  };
  boost::container::small_vector<Written, 16> written;
  const boost::container::small_vector<char, 1024> before(out_.data() + begin, out_.data() + size_);
  for (std::size_t i = first_; i < members_.size(); ++i) {
    const bool last = i + 1 == members_.size();
    const std::size_t end = last ? size_ : members_[i + 1].at - 1;
    const std::size_t at = members_[i].at;
    written.push_back(
        {members_[i].name.text(), std::string_view(before.data() + (at - begin), end - at)});
  }
  std::ranges::sort(written, canonical_less, &Written::name);
  size_ = begin;
  for (const Written& member : written) {
    if (&member != &written.front()) write_char(',');
    write_raw(member.text);
  }
}

bool CanonicalWriter::follows_canonically(const MemberName& before, const MemberName& name) {
  return canonical_less(before.text(), name.text());
}

void CanonicalWriter::put_name_as_text(MemberName name) {
  write(name.text());
  write_char(':');
}

void CanonicalWriter::enlarge(std::size_t bytes) {
  const std::size_t needed = size_ + bytes;
  const std::size_t room =
      needed <= out_.capacity() ? out_.capacity() : std::max(2 * out_.capacity(), needed);
  // Do not use the size passed to the operation: libstdc++ 12 passes the capacity.
  out_.resize_and_overwrite(room, [&](char*, std::size_t) { return room; });
}

void CanonicalWriter::write(std::string_view text) {
  if (needs_json_escape(text)) {
    return write_with([&](std::string& out) { append_canonical_string(out, text); });
  }
  char* const to = grow(text.size() + 2);
  to[0] = '"';
  std::memcpy(to + 1, text.data(), text.size());
  to[text.size() + 1] = '"';
}

void CanonicalWriter::separate_items() {
  if (out_[size_ - 1] != '[') write_char(',');
}

void CanonicalWriter::write(std::uint64_t number) {
  char buffer[24];
  write_raw(digits_of(number, buffer));
}

void CanonicalWriter::write(std::int64_t number) {
  char buffer[24];
  write_raw(digits_of(number, buffer));
}

void CanonicalWriter::write(double number) {
  write_with([&](std::string& out) { append_canonical_number(out, number); });
}

void CanonicalWriter::write(const json::value& value) {
  write_with([&](std::string& out) { append_exact_json(out, value); });
}

void CanonicalWriter::write(const json::array& items) {
  write_with([&](std::string& out) { append_exact_json(out, items); });
}

void CanonicalWriter::write(const json::object& members) {
  write_with([&](std::string& out) { append_exact_json(out, members); });
}

}  // namespace sallyport
