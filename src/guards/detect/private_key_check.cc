#include "guards/detect/private_key_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

constexpr std::string_view kKey = "PRIVATE KEY";
constexpr CharMask kBase64 = kAlnum | kPlus | kSlash | kEquals;

// The end of the boundary line whose `PRIVATE KEY` ends at `at`: ` BLOCK` and the dashes.
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

// Where the dashes of the BEGIN line begin whose `PRIVATE KEY` is at `key`. Nothing: there is no
// such line, only talk of one.
std::optional<std::size_t> begin_line(std::string_view text, std::size_t key) {
  std::size_t begin = 0;
  if (!has_boundary_word(text, key, "BEGIN ", begin)) return std::nullopt;
  if (begin > 0 && is(text[begin - 1], kBlank)) --begin;
  const std::size_t dashes = run_begin(text, begin, kDash);
  if (begin - dashes < 2) return std::nullopt;
  return dashes;
}

// The end of the END line that begins at `at`, dashes first. Nothing: there is none.
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

// Behind an escaped line end or tab at `at` (`\n`, `\\n`), or `at` itself.
std::size_t skip_escape(std::string_view text, std::size_t at) {
  std::size_t letter = at;
  while (letter < text.size() && text[letter] == '\\') ++letter;
  if (letter == at || letter == text.size()) return letter;
  const char c = text[letter];
  if (is(c, kLineEnd | kQuote)) return letter;
  return c == 'n' || c == 'r' || c == 't' ? letter + 1 : at;
}

// What may stand between two lines of a key: line ends, also escaped, indentation, quotes and
// commas of program code, marks of quoted mail.
std::size_t skip_between(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    const bool alone = c == '+' && !is_at(text, at + 1, kBase64);  // joins two texts
    if (is(c, kBlank | kLineEnd | kQuote) || c == ',' || c == '>' || c == '|' || alone) {
      ++at;
      continue;
    }
    const std::size_t behind = skip_escape(text, at);
    if (behind == at) break;
    at = behind;
  }
  return at;
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
  explicit KeyBody(std::string_view text) : text_(text) {}

  // Reads from `at` on. The end of the last line that belongs to the key, or `at` itself.
  std::size_t read(std::size_t at) {
    std::size_t end = at;
    while (true) {
      const std::size_t line = skip_between(text_, end);
      if (const auto closing = end_line(text_, line)) return any_ ? *closing : at;
      const std::size_t stop = run_end(text_, line, kBase64);
      if (stop == line || !belongs(line, stop)) return end;
      end = stop;
    }
  }

 private:
  // A key has long lines and one last short one. Short words behind a BEGIN line are no key.
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
    const std::size_t next = skip_between(text_, stop);
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
           end_line(text_, skip_between(text_, stop)).has_value();
  }
  static bool is_checksum(std::string_view run) { return run.size() == 5 && run[0] == '='; }
  // Words and paths have no such mix.
  static bool looks_encoded_in_part(std::string_view run) {
    return run[0] != '/' && holds(run, kUpper) && (holds(run, kLower) || holds(run, kDigit));
  }

  std::string_view text_;
  std::size_t characters_ = 0;
  bool any_ = false;
};

}  // namespace

void check_private_key_pem(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::optional<std::size_t> dashes = begin_line(text, at.begin);
  if (!dashes) return;
  const std::size_t head_end = boundary_end(text, at.end);
  std::size_t body = head_end;
  while (true) {
    const std::size_t line = skip_between(text, body);
    const std::size_t behind = skip_header(text, line);
    if (behind == line) break;
    body = behind;
  }
  if (body == head_end) {
    found.add(Detector::PrivateKeyPem, *dashes, KeyBody(text).read(head_end));
    return;
  }
  found.add(Detector::PrivateKeyPem, *dashes, head_end);
  const std::size_t end = KeyBody(text).read(body);
  if (end > body) found.add(Detector::PrivateKeyPem, skip_between(text, body), end);
}

std::optional<std::size_t> opened_key(std::string_view line) {
  // The last boundary of a line says how it ends.
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
