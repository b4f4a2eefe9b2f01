#include "trust/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/digest.h"
#include "base/encoding.h"
#include "sallyport/json.h"

namespace sallyport::trust {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, unsigned code) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace

Result<void> RecordText::read(std::string_view text) {
  text_ = text;
  at_ = 0;
  out_.clear();
  names_.clear();
  open_.clear();
  members_.clear();
  hashed_.clear();
  fault_.clear();
  bool read =
      text.size() <= kMaxBytes ? is_utf8(text) || fault("is not UTF-8") : fault("is over 1 MiB");
  if (read) skip_blanks();
  read = read && (peek() == '{' || fault("is not an object")) && object(kMaxDepth, true);
  if (read) skip_blanks();
  if (!read || at_ != text_.size()) {
    return fail(ErrorCode::InvalidInput, fault_.empty() ? "has text after its end" : fault_);
  }
  hashed_ = "{";
  for (const Member& member : members_) {
    if (name_of(member) == "entry_hash") continue;
    if (hashed_.size() > 1) hashed_ += ',';
    hashed_.append(out_, member.begin, member.end - member.begin);
  }
  hashed_ += '}';
  return {};
}

std::string RecordText::entry_hash() const {
  return "sha256:" + hex(sha256(hashed_));
}

std::string_view RecordText::name_of(const Member& member) const {
  return std::string_view(names_).substr(member.name, member.name_end - member.name);
}

std::string_view RecordText::member(std::string_view name) const {
  for (const Member& member : members_) {
    if (name_of(member) != name) continue;
    return std::string_view(out_).substr(member.value, member.end - member.value);
  }
  return {};
}

std::optional<std::string_view> RecordText::text(std::string_view name) const {
  const std::string_view value = member(name);
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  const std::string_view inner = value.substr(1, value.size() - 2);
  if (inner.find('\\') != std::string_view::npos) return std::nullopt;
  return inner;
}

std::optional<std::uint64_t> RecordText::number(std::string_view name) const {
  const std::string_view value = member(name);
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || code != std::errc() || end != value.data() + value.size()) {
    return std::nullopt;
  }
  return number;
}

bool RecordText::fault(std::string_view what) {
  if (fault_.empty()) fault_ = fmt::format("{} (byte {})", what, at_);
  return false;
}

void RecordText::skip_blanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
}

bool RecordText::value(unsigned depth) {
  skip_blanks();
  if (depth == 0) return fault("is nested too deep");
  switch (peek()) {
    case '{':
      return object(depth, false);
    case '[':
      return array(depth);
    case '"':
      return string(out_);
    case 't':
      return word("true");
    case 'f':
      return word("false");
    case 'n':
      return word("null");
    default:
      return number();
  }
}

// Members are in `out_` in their given order, and are sorted if they are not in order.
bool RecordText::object(unsigned depth, bool top) {
  const std::size_t first = open_.size();
  const std::size_t names = names_.size();
  out_ += '{';
  const std::size_t begin = out_.size();
  if (!members(depth)) return false;
  const auto mine = open_.begin() + static_cast<long>(first);
  const auto by_name = [this](const Member& a, const Member& b) { return name_of(a) < name_of(b); };
  if (!std::is_sorted(mine, open_.end(), by_name)) {
    std::sort(mine, open_.end(), by_name);
    sorting_.assign(out_, begin);
    out_.resize(begin);
    for (auto member = mine; member != open_.end(); ++member) {
      if (out_.size() > begin) out_ += ',';
      const std::size_t moved = out_.size() - member->begin;
      out_.append(sorting_, member->begin - begin, member->end - member->begin);
      member->begin += moved;
      member->value += moved;
      member->end += moved;
    }
  }
  const auto same = std::adjacent_find(mine, open_.end(), [this](const Member& a, const Member& b) {
    return name_of(a) == name_of(b);
  });
  if (same != open_.end()) return fault("has a member twice");
  out_ += '}';
  if (top) {
    members_.assign(mine, open_.end());
  } else {
    names_.resize(names);
  }
  open_.resize(first);
  return true;
}

bool RecordText::members(unsigned depth) {
  ++at_;
  skip_blanks();
  if (peek() == '}') return ++at_, true;
  for (bool more = true; more;) {
    skip_blanks();
    if (peek() != '"') return fault("a member name is missing");
    Member member{.name = names_.size(), .begin = out_.size()};
    if (!string(out_)) return false;
    names_ += decoded_;
    member.name_end = names_.size();
    skip_blanks();
    if (peek() != ':') return fault("a colon is missing");
    ++at_;
    out_ += ':';
    member.value = out_.size();
    if (!value(depth - 1)) return false;
    member.end = out_.size();
    open_.push_back(member);
    skip_blanks();
    more = peek() == ',';
    if (!more && peek() != '}') return fault("a comma or brace is missing");
    ++at_;
    if (more) out_ += ',';
  }
  return true;
}

bool RecordText::array(unsigned depth) {
  ++at_;
  out_ += '[';
  skip_blanks();
  if (peek() == ']') return ++at_, out_ += ']', true;
  for (bool more = true; more;) {
    if (!value(depth - 1)) return false;
    skip_blanks();
    more = peek() == ',';
    if (!more && peek() != ']') return fault("a comma or bracket is missing");
    ++at_;
    out_ += more ? ',' : ']';
  }
  return true;
}

// Leaves the decoded string in `decoded_`.
bool RecordText::string(std::string& out) {
  decoded_.clear();
  for (++at_; at_ < text_.size();) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20) {
      ++at_;
    }
    decoded_.append(text_, begin, at_ - begin);
    if (peek() == '"') {
      ++at_;
      append_canonical_string(out, decoded_);
      return true;
    }
    if (peek() != '\\') return fault("a string holds a control character or has no end");
    if (!escape(decoded_)) return false;
  }
  return fault("a string has no end");
}

bool RecordText::escape(std::string& decoded) {
  constexpr std::string_view kMarks = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  ++at_;
  if (const std::size_t mark = kMarks.find(peek()); peek() != '\0' && mark != kMarks.npos) {
    decoded += kMeant[mark];
    ++at_;
    return true;
  }
  const auto unit = [this](std::size_t at) {
    int code = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const int digit = i < text_.size() ? hex_value(text_[i]) : -1;
      code = digit < 0 || code < 0 ? -1 : code * 16 + digit;
    }
    return code;
  };
  int code = peek() == 'u' ? unit(at_ + 1) : -1;
  if (code < 0) return fault("an escape is wrong");
  at_ += 5;
  if (code >= 0xd800 && code < 0xe000) {
    const bool pair =
        code < 0xdc00 && peek() == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == 'u';
    const int low = pair ? unit(at_ + 2) : -1;
    if (low < 0xdc00 || low >= 0xe000) return fault("half a surrogate pair");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    at_ += 6;
  }
  append_utf8(decoded, static_cast<unsigned>(code));
  return true;
}

// Copies the number as written, if JSON allows it.
bool RecordText::number() {
  const std::size_t begin = at_;
  const auto digits = [this] {
    const std::size_t first = at_;
    while (is_digit(peek())) ++at_;
    return at_ > first;
  };
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else if (!digits()) {
    return fault("a value is missing");
  }
  if (peek() == '.') {
    ++at_;
    if (!digits()) return fault("a number is wrong");
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!digits()) return fault("a number is wrong");
  }
  out_.append(text_, begin, at_ - begin);
  return true;
}

bool RecordText::word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fault("a value is missing");
  at_ += word.size();
  out_ += word;
  return true;
}

}  // namespace sallyport::trust
