#include "oauth/challenge.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/lower_case.h"

namespace sallyport::oauth {

namespace {

constexpr std::size_t kLongestHeader = 16 * 1024;  // of one header
constexpr std::size_t kMostParams = 64;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_token(char c) {
  return is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string::npos;
}

bool is_token68(char c) {
  return is_alphanumeric(c) || std::string_view("-._~+/").find(c) != std::string::npos;
}

// Reads a header from left to right (RFC 9110, section 11.6.1).
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }
  void skip_separators() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t,"), rest_.size()));
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view token() {
    const auto end = std::ranges::find_if_not(rest_, is_token);
    return cut(static_cast<std::size_t>(end - rest_.begin()));
  }
  // Some schemes have credentials in one word, which end the challenge.
  void skip_token68() {
    const auto end = std::ranges::find_if_not(rest_, is_token68);
    std::size_t size = static_cast<std::size_t>(end - rest_.begin());
    while (size < rest_.size() && rest_[size] == '=') ++size;
    const std::size_t next = rest_.find_first_not_of(" \t", size);
    if (next == std::string_view::npos || rest_[next] == ',') cut(size);
  }
  // Nothing: it does not end.
  std::optional<std::string> value() {
    if (!take('"')) {
      const std::string_view word = token();
      return word.empty() ? std::nullopt : std::optional(std::string(word));
    }
    std::string out;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (c == '\\') {
        if (rest_.empty()) return std::nullopt;
        c = rest_.front();
        rest_.remove_prefix(1);
      }
      out += c;
    }
    return std::nullopt;
  }

 private:
  std::string_view cut(std::size_t size) {
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }

  std::string_view rest_;
};

using Params = std::map<std::string, std::string>;

// The parameters of the first `Bearer`. No value: there is none, or a parameter occurs twice.
std::optional<Params> bearer_params(std::string_view header) {
  Reader reader(header);
  std::optional<Params> found;
  bool ours = false;
  while (true) {
    reader.skip_separators();
    if (reader.done()) return found;
    const std::string word = lower_case(reader.token());
    if (word.empty()) return std::nullopt;
    reader.skip_blanks();
    if (!reader.take('=')) {  // a scheme
      if (found) return found;
      ours = word == "bearer";
      if (ours) found.emplace();
      reader.skip_token68();
      continue;
    }
    reader.skip_blanks();
    std::optional<std::string> value = reader.value();
    if (!value) return std::nullopt;
    if (!ours) continue;
    if (found->size() >= kMostParams || !found->emplace(word, std::move(*value)).second) {
      return std::nullopt;
    }
  }
}

}  // namespace

std::optional<Challenge> bearer_challenge(const net::HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    if (lower_case(name) != "www-authenticate" || value.size() > kLongestHeader) continue;
    const std::optional<Params> params = bearer_params(value);
    if (!params) continue;
    const auto text = [&](const char* key) {
      const auto found = params->find(key);
      return found == params->end() ? std::string() : found->second;
    };
    return Challenge{text("resource_metadata"), text("scope"), text("error")};
  }
  return std::nullopt;
}

}  // namespace sallyport::oauth
