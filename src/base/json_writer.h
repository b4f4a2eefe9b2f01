// Writers of JSON objects. A type lists its members once, for both writers:
//
//   template <class Out>
//   void write_members(Out& out, const Provenance& provenance) {
//     out.put("provider", provenance.provider);
//     out.put("model", provenance.model);
//   }
//
//   CanonicalWriter text;                                  // canonical bytes, for the ledger
//   text.object([&] { write_members(text, provenance); });
//   ObjectWriter members;                                  // a JSON value, for everything else
//   write_members(members, provenance);
//
// Neither may be used from several threads at once.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sallyport/json.h"

namespace sallyport {

// The name of a member. A string literal is checked at compile time to need no escape.
class MemberName {
 public:
  template <std::size_t kSize>
  consteval MemberName(const char (&name)[kSize]) : text_(name, kSize - 1), is_plain_(true) {
    for (const char c : text_) {
      if (c < 0x20 || c > 0x7e || c == '"' || c == '\\') throw "a plain name has no such character";
    }
    for (std::size_t i = 0; i < sizeof(begin_); ++i) {
      begin_ = begin_ << 8 | static_cast<unsigned char>(i < text_.size() ? text_[i] : '\0');
    }
  }
  constexpr MemberName(std::string_view name) : text_(name) {}
  MemberName(const std::string& name) : text_(name) {}

  constexpr std::string_view text() const { return text_; }
  constexpr bool is_plain() const { return is_plain_; }
  // Both names must be plain. Their first characters usually decide.
  bool comes_after(const MemberName& other) const {
    return begin_ == other.begin_ ? text_ > other.text_ : begin_ > other.begin_;
  }

 private:
  std::string_view text_;
  std::uint64_t begin_ = 0;  // the first characters of a plain name, as a number
  bool is_plain_ = false;
};

// Writes one JSON text. Members of an object may be put in any order and are sorted as RFC 8785
// requires; it is cheapest to put them in that order. Unlike RFC 8785, a whole number beyond 2^53
// keeps all its digits. A number that is not finite is written as invalid JSON, so that every
// reader refuses the text.
class CanonicalWriter {
 public:
  CanonicalWriter() { enlarge(kCommonText); }

  // The names that `members` puts must stay valid during this call.
  template <class Members>
  void object(Members&& members) {
    const Level outer = begin_object();
    std::forward<Members>(members)();
    end_object(outer);
  }
  template <class Members>
  void object(MemberName name, Members&& members) {
    put_name(name);
    object(std::forward<Members>(members));
  }
  // `items` calls `item` or `object` for each.
  template <class Items>
  void array(Items&& items) {
    write_char('[');
    const bool outer = std::exchange(in_array_, true);
    std::forward<Items>(items)();
    in_array_ = outer;
    write_char(']');
  }
  template <class Items>
  void array(MemberName name, Items&& items) {
    put_name(name);
    array(std::forward<Items>(items));
  }

  template <class T>
  void put(MemberName name, const T& value) {
    put_name(name);
    write(value);
  }
  // A value that is canonical JSON already.
  void put_text(MemberName name, std::string_view canonical) {
    put_name(name);
    write_raw(canonical);
  }
  template <class T>
  void item(const T& value) {
    separate_items();
    write(value);
  }

  std::string take() && {
    out_.resize(size_);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kCommonText = 1024;  // growing to it costs as much as writing
  struct Member {
    MemberName name;
    std::size_t at;
  };
  struct Level {
    std::size_t first;
    bool sorted;
    bool in_array;
  };

  Level begin_object();
  void end_object(const Level& outer);
  void sort_members();
  // Inline: a call writes about a hundred names, most of them known at compile time.
  void put_name(MemberName name) {
    const bool is_first = members_.size() == first_;
    if (!is_first) keep_order(members_.back().name, name);
    if (!is_first) write_char(',');
    members_.push_back({name, size_});
    if (!name.is_plain()) return put_name_as_text(name);
    const std::string_view text = name.text();
    char* const to = grow(text.size() + 3);
    to[0] = '"';
    std::memcpy(to + 1, text.data(), text.size());
    std::memcpy(to + 1 + text.size(), "\":", 2);
  }
  void keep_order(const MemberName& before, const MemberName& name) {
    const bool plain = before.is_plain() && name.is_plain();
    sorted_ = sorted_ && (plain ? name.comes_after(before) : follows_canonically(before, name));
  }
  static bool follows_canonically(const MemberName& before, const MemberName& name);
  void put_name_as_text(MemberName name);
  void separate_items();

  // Makes room for `bytes` bytes, which the caller writes.
  char* grow(std::size_t bytes) {
    if (out_.size() - size_ < bytes) enlarge(bytes);
    return out_.data() + std::exchange(size_, size_ + bytes);
  }
  void enlarge(std::size_t bytes);
  void write_char(char c) { *grow(1) = c; }
  void write_raw(std::string_view text) {
    std::memcpy(grow(text.size()), text.data(), text.size());
  }
  // Lets `append` write to the end of the text.
  template <class Append>
  void write_with(Append&& append) {
    out_.resize(size_);
    std::forward<Append>(append)(out_);
    size_ = out_.size();
  }

  void write(std::string_view text);
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }
  void write(bool truth) { write_raw(truth ? "true" : "false"); }
  void write(std::nullptr_t) { write_raw("null"); }
  void write(std::uint64_t number);
  void write(std::int64_t number);
  void write(int number) { write(std::int64_t{number}); }
  void write(double number);
  void write(const json::value& value);
  void write(const json::array& items);
  void write(const json::object& members);
  template <class T>
  void write(const std::optional<T>& value) {
    if (value) return write(*value);
    write(nullptr);
  }

  std::string out_;  // the text, and free room after it
  std::size_t size_ = 0;
  boost::container::small_vector<Member, 64> members_;  // of all objects that are open
  std::size_t first_ = 0;                               // of the innermost one
  bool sorted_ = true;
  bool in_array_ = false;
};

// Builds one JSON object. Members keep the order in which they were put.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::size_t members = 0) { object_.reserve(members); }

  template <class Members>
  void object(MemberName name, Members&& members) {
    json::object outer = std::exchange(object_, {});
    std::forward<Members>(members)();
    outer.emplace(name.text(), std::exchange(object_, {}));
    object_ = std::move(outer);
  }
  template <class Members>
  void object(Members&& members) {
    json::object outer = std::exchange(object_, {});
    std::forward<Members>(members)();
    array_.push_back(std::exchange(object_, std::move(outer)));
  }
  template <class Items>
  void array(MemberName name, Items&& items) {
    json::array outer = std::exchange(array_, {});
    std::forward<Items>(items)();
    object_.emplace(name.text(), std::exchange(array_, std::move(outer)));
  }

  template <class T>
  void put(MemberName name, const T& value) {
    object_.emplace(name.text(), value_of(value));
  }
  template <class T>
  void item(const T& value) {
    array_.push_back(value_of(value));
  }

  json::object take() && { return std::move(object_); }

 private:
  template <class T>
  static json::value value_of(const T& value) {
    return json::value(value);
  }
  template <class T>
  static json::value value_of(const std::optional<T>& value) {
    return value ? json::value(*value) : json::value();
  }

  json::object object_;
  json::array array_;
};

}  // namespace sallyport
