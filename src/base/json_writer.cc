#include "base/json_writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/exact_numbers.h"

namespace sallyport {

namespace {

template <class Integer>
void append_digits(std::string& out, Integer number) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

}  // namespace

CanonicalWriter::Level CanonicalWriter::begin_object() {
  if (in_array_) separate_items();
  const Level outer{first_, sorted_, in_array_};
  first_ = members_.size();
  sorted_ = true;
  in_array_ = false;
  out_ += '{';
  return outer;
}

void CanonicalWriter::end_object(const Level& outer) {
  if (!sorted_) sort_members();
  members_.resize(first_);
  first_ = outer.first;
  sorted_ = outer.sorted;
  in_array_ = outer.in_array;
  out_ += '}';
}

// Members stand between commas, each from its quote on.
void CanonicalWriter::sort_members() {
  const std::size_t begin = members_[first_].at;
  struct Written {
    std::string_view name;
    std::string_view text;
  };
  boost::container::small_vector<Written, 16> written;
  const boost::container::small_vector<char, 1024> before(out_.begin() + begin, out_.end());
  for (std::size_t i = first_; i < members_.size(); ++i) {
    const bool last = i + 1 == members_.size();
    const std::size_t end = last ? out_.size() : members_[i + 1].at - 1;
    const std::size_t at = members_[i].at;
    written.push_back({members_[i].name, std::string_view(before.data() + (at - begin), end - at)});
  }
  std::ranges::sort(written, canonical_less, &Written::name);
  out_.resize(begin);
  for (const Written& member : written) {
    if (&member != &written.front()) out_ += ',';
    out_ += member.text;
  }
}

void CanonicalWriter::put_name(std::string_view name) {
  if (members_.size() > first_) {
    sorted_ = sorted_ && canonical_less(members_.back().name, name);
    out_ += ',';
  }
  members_.push_back({name, out_.size()});
  write(name);
  out_ += ':';
}

char* CanonicalWriter::grow(std::size_t bytes) {
  const std::size_t before = out_.size();
  // Not the size that the operation is given: libstdc++ 12 gives it the capacity.
  out_.resize_and_overwrite(before + bytes, [&](char*, std::size_t) { return before + bytes; });
  return out_.data() + before;
}

void CanonicalWriter::write(std::string_view text) {
  if (needs_json_escape(text)) return append_canonical_string(out_, text);
  char* const to = grow(text.size() + 2);
  to[0] = '"';
  std::memcpy(to + 1, text.data(), text.size());
  to[text.size() + 1] = '"';
}

void CanonicalWriter::separate_items() {
  if (out_.back() != '[') out_ += ',';
}

void CanonicalWriter::write(std::uint64_t number) {
  append_digits(out_, number);
}

void CanonicalWriter::write(std::int64_t number) {
  append_digits(out_, number);
}

void CanonicalWriter::write(double number) {
  append_canonical_number(out_, number);
}

void CanonicalWriter::write(const json::value& value) {
  append_exact_json(out_, value);
}

void CanonicalWriter::write(const json::array& items) {
  append_exact_json(out_, items);
}

void CanonicalWriter::write(const json::object& members) {
  append_exact_json(out_, members);
}

}  // namespace sallyport
