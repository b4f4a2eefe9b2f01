#include "guards/detect/private_key_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "guards/detect/char_class.h"
#include "guards/detect/key_lines.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kKey = "PRIVATE KEY";

// The end of the boundary line with a `PRIVATE KEY` that ends at `at`: ` BLOCK` and the dashes.
std::size_t boundary_end(std::string_view text, std::size_t at) {
  constexpr std::string_view kBlock = " BLOCK";
  if (text.substr(at).starts_with(kBlock)) at += kBlock.size();
  if (is_at(text, at, kBlank) && is_at(text, at + 1, kDash)) ++at;
  return run_end(text, at, kDash);
}

// True when the `PRIVATE KEY` at `key` closes a boundary that `word` opens, as in
// `END RSA PRIVATE KEY`. `begin` is then the place of the word.
bool has_boundary_word(std::string_view text, std::size_t key, std::string_view word,
                       std::size_t& begin) {
  constexpr std::size_t kLongestLabel = 40;
  std::size_t from = key;
  while (from > 0 && key - from < kLongestLabel && is(text[from - 1], kUpper | kDigit | kBlank)) {
    --from;
  }
  const std::size_t place = text.substr(from, key - from).rfind(word);
  begin = from + place;
  return place != std::string_view::npos && left_edge(text, begin);
}

// The start of the BEGIN line with `PRIVATE KEY` at `key`. No value: there is no such line.
std::optional<std::size_t> begin_line(std::string_view text, std::size_t key) {
  std::size_t begin = 0;
  if (!has_boundary_word(text, key, "BEGIN ", begin)) return std::nullopt;
  if (begin > 0 && is(text[begin - 1], kBlank)) --begin;
  const std::size_t dashes = run_begin(text, begin, kDash);
  if (begin - dashes < 2) return std::nullopt;
  return dashes;
}

// The end of the END line that begins with dashes at `at`. No value: there is none.
std::optional<std::size_t> end_line(std::string_view text, std::size_t at) {
  std::size_t word = run_end(text, at, kDash);
  if (word - at < 2) return std::nullopt;
  if (is_at(text, word, kBlank)) ++word;
  if (!text.substr(word).starts_with("END ")) return std::nullopt;
  const std::size_t label_end = run_end(text, word, kUpper | kDigit | kBlank);
  const std::size_t key = text.substr(word, label_end - word).find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  return boundary_end(text, word + key + kKey.size());
}

// The end of a header of a key at `at`, such as `DEK-Info: AES-128-CBC,00FF`; or `at` itself.
std::size_t skip_header(std::string_view text, std::size_t at) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"Proc-Type", "DEK-Info", "Version", "Comment", "Hash", "Charset", "MessageID"});
  const std::size_t name_end = run_end(text, at, kAlnum | kDash);
  const std::string_view name = text.substr(at, name_end - at);
  if (std::ranges::find(kNames, name) == kNames.end() || !is_at(text, name_end, kColon)) return at;
  constexpr std::size_t kLongest = 200;
  std::size_t end = name_end;
  while (end < text.size() && end - at < kLongest && !is(text[end], kLineEnd | kQuote) &&
         text[end] != '\\') {
    ++end;
  }
  return end;
}

bool looks_encoded(std::string_view line) {
  constexpr std::size_t kLong = 48;
  const int kinds = int{holds(line, kUpper)} + int{holds(line, kLower)} + int{holds(line, kDigit)};
  return kinds == 3 || (kinds == 2 && line.size() >= kLong);
}

// The base64 of one key, read line by line.
class KeyBody {
 public:
  KeyBody(std::string_view text, const KeyLines& lines) : text_(text), lines_(lines) {}

  // Reads from `at` on. The end of the last line that belongs to the key, or `at` itself.
  std::size_t read(std::size_t at) {
    std::size_t end = at;
    while (true) {
      const std::size_t line = lines_.skip(end);
      if (const auto closing = end_line(text_, line)) {
        closed_ = any_;
        return any_ ? *closing : at;
      }
      const std::size_t stop = run_end(text_, line, kBase64);
      if (stop == line || !belongs(line, stop)) return end;
      end = stop;
    }
  }

  // True: what was read ends with an END line.
  bool closed() const { return closed_; }

 private:
  // A key has long lines and a short last one. Short words after a BEGIN line are not a key.
  bool belongs(std::size_t line, std::size_t stop) {
    constexpr std::size_t kLeast = 32;
    constexpr std::size_t kLeastAlone = 16;
    constexpr std::size_t kLeastCut = 8;
    const std::string_view run = text_.substr(line, stop - line);
    const bool was_any = any_;
    if (run.size() >= kLeast && looks_encoded(run)) {
      any_ = true;
      characters_ += run.size();
      return true;
    }
    const std::size_t next = lines_.skip(stop);
    if (was_any && is_checksum(run)) return true;
    characters_ += run.size();
    if (closes(next)) {
      any_ = was_any ? characters_ % 4 == 0 || run.size() >= kLeastAlone
                     : run.size() >= kLeastAlone && looks_encoded_in_part(run);
      return any_;
    }
    // A text that was cut inside of the key.
    const bool cut = next == text_.size() || text_.substr(next).starts_with("...");
    any_ = cut && looks_encoded_in_part(run) && run.size() >= (was_any ? kLeastCut : kLeastAlone);
    return any_;
  }
  // An END line, or the checksum of PGP armor and an END line.
  bool closes(std::size_t at) const {
    if (end_line(text_, at)) return true;
    const std::size_t stop = run_end(text_, at, kBase64);
    return is_checksum(text_.substr(at, stop - at)) &&
           end_line(text_, lines_.skip(stop)).has_value();
  }
  static bool is_checksum(std::string_view run) { return run.size() == 5 && run[0] == '='; }
  // Words and paths have no such mix.
  static bool looks_encoded_in_part(std::string_view run) {
    return run[0] != '/' && holds(run, kUpper) && (holds(run, kLower) || holds(run, kDigit));
  }

  std::string_view text_;
  const KeyLines& lines_;
  std::size_t characters_ = 0;
  bool any_ = false;
  bool closed_ = false;
};

// True if the next boundary behind `at` is that of an END line, and not far away.
bool end_follows(std::string_view text, std::size_t at) {
  constexpr std::size_t kFarthest = 16u << 10;
  const std::string_view near = text.substr(at, kFarthest);
  const std::size_t key = near.find(kKey);
  std::size_t word = 0;
  return key != std::string_view::npos && has_boundary_word(near, key, "END ", word);
}

// A BEGIN line.
struct Head {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Adds the key behind a BEGIN line. False: lines with a prefix are no key without their END line.
bool add_key(Candidates& found, const Head& head, const KeyLines& lines) {
  const std::string_view text = found.text();
  std::size_t body = head.end;
  while (true) {
    const std::size_t line = lines.skip(body);
    const std::size_t behind = skip_header(text, line);
    if (behind == line) break;
    body = behind;
  }
  KeyBody key(text, lines);
  const std::size_t end = key.read(body);
  if (lines.have_prefix() && !key.closed()) return false;
  if (body == head.end) {
    found.add(Detector::PrivateKeyPem, head.begin, end);
    return true;
  }
  found.add(Detector::PrivateKeyPem, head.begin, head.end);
  if (end > body) found.add(Detector::PrivateKeyPem, lines.skip(body), end);
  return true;
}

}  // namespace

void check_private_key_pem(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::optional<std::size_t> dashes = begin_line(text, at.begin);
  if (!dashes) return;
  const Head head{*dashes, boundary_end(text, at.end)};
  const std::string_view prefix = line_prefix(text, *dashes);
  const bool prefixed = !prefix.empty() && end_follows(text, head.end);
  if (prefixed && add_key(found, head, KeyLines(text, prefix))) return;
  add_key(found, head, KeyLines(text, {}));
}

std::optional<std::size_t> opened_key(std::string_view line) {
  // The last boundary of a line decides.
  for (std::size_t key = line.rfind(kKey); key != std::string_view::npos;
       key = key == 0 ? std::string_view::npos : line.rfind(kKey, key - 1)) {
    std::size_t word = 0;
    if (has_boundary_word(line, key, "END ", word)) return std::nullopt;
    if (const auto dashes = begin_line(line, key)) return dashes;
  }
  return std::nullopt;
}

KeyLine key_line(std::string_view line) {
  for (std::size_t key = line.find(kKey); key != std::string_view::npos;
       key = line.find(kKey, key + 1)) {
    std::size_t word = 0;
    if (has_boundary_word(line, key, "END ", word)) return KeyLine::Closes;
  }
  std::size_t at = skip_header(line, skip_between(line, 0));
  while (at < line.size()) {
    const std::size_t stop = run_end(line, at, kBase64);
    if (stop == at) return KeyLine::Other;
    at = skip_between(line, stop);
  }
  return KeyLine::Inside;
}

}  // namespace sallyport::guards
