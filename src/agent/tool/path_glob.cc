#include "agent/tool/path_glob.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/try.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLongest = 1024;
constexpr std::size_t kMostAlternatives = 64;
constexpr std::string_view kAnyFolders = "**";

std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (!name.empty() && name != ".") names.emplace_back(name);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return names;
}

// The places of the first outermost brace: its opening, its commas and its closing.
std::optional<std::vector<std::size_t>> first_brace(std::string_view text) {
  std::vector<std::size_t> places;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      if (depth++ == 0) places = {i};
    } else if (text[i] == ',' && depth == 1) {
      places.push_back(i);
    } else if (text[i] == '}' && depth > 0 && --depth == 0) {
      places.push_back(i);
      if (places.size() > 2) return places;
    }
  }
  return std::nullopt;
}

Result<std::vector<std::string>> without_braces(std::string_view pattern) {
  std::vector<std::string> waiting{std::string(pattern)};
  std::vector<std::string> done;
  while (!waiting.empty()) {
    const std::string text = std::move(waiting.back());
    waiting.pop_back();
    const auto brace = first_brace(text);
    if (!brace) {
      done.push_back(text);
    } else {
      for (std::size_t i = 0; i + 1 < brace->size(); ++i) {
        const std::size_t from = (*brace)[i] + 1;
        waiting.push_back(text.substr(0, brace->front()) +
                          text.substr(from, (*brace)[i + 1] - from) +
                          text.substr(brace->back() + 1));
      }
    }
    if (waiting.size() + done.size() > kMostAlternatives) {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("the pattern `{:.80}` has over {} alternatives", pattern, kMostAlternatives));
    }
  }
  return done;
}

// Matches one letter of the pattern. Returns the number of pattern letters that it takes; 0: no
// match.
std::size_t match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '\\' && pattern.size() > 1) return pattern[1] == c ? 2 : 0;
  if (pattern[0] != '[') return pattern[0] == c ? 1 : 0;
  std::size_t at = 1;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  const std::size_t close = pattern.find(']', at + 1);
  if (close == std::string_view::npos) return c == '[' ? 1 : 0;
  bool found = false;
  for (; at < close; ++at) {
    const auto low = static_cast<unsigned char>(pattern[at]);
    auto high = low;
    if (at + 2 < close && pattern[at + 1] == '-') {
      high = static_cast<unsigned char>(pattern[at + 2]);
      at += 2;
    }
    const auto letter = static_cast<unsigned char>(c);
    found = found || (low <= letter && letter <= high);
  }
  return found != negated ? close + 1 : 0;
}

// Backtracks to the last star only, so the time is bounded by the product of the lengths.
bool match_name(std::string_view pattern, std::string_view name) {
  std::size_t at = 0;
  std::size_t letter = 0;
  std::optional<std::size_t> star;
  std::size_t star_letter = 0;
  while (letter < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_letter = letter;
      continue;
    }
    const std::size_t taken = at < pattern.size() ? match_one(pattern.substr(at), name[letter]) : 0;
    if (taken > 0) {
      at += taken;
      ++letter;
    } else if (star) {
      at = *star + 1;
      letter = ++star_letter;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

// The same with names in place of letters and `**` in place of the star.
bool match_names(const std::vector<std::string>& pattern, const std::vector<std::string>& names,
                 std::size_t count) {
  std::size_t at = 0;
  std::size_t name = 0;
  std::optional<std::size_t> star;
  std::size_t star_name = 0;
  while (name < count) {
    if (at < pattern.size() && pattern[at] == kAnyFolders) {
      star = at++;
      star_name = name;
    } else if (at < pattern.size() && match_name(pattern[at], names[name])) {
      ++at;
      ++name;
    } else if (star) {
      at = *star + 1;
      name = ++star_name;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == kAnyFolders) ++at;
  return at == pattern.size();
}

}  // namespace

Result<PathGlob> PathGlob::parse(std::string_view pattern) {
  if (pattern.empty()) return fail(ErrorCode::InvalidInput, "a pattern is empty");
  if (pattern.size() > kLongest) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the pattern `{:.80}...` is longer than {} bytes", pattern, kLongest));
  }
  PathGlob glob;
  glob.text_ = pattern;
  SALLYPORT_TRY(const std::vector<std::string> all, without_braces(pattern));
  for (const std::string& text : all) {
    Names names = names_of(text);
    if (names.empty()) return fail(ErrorCode::InvalidInput, "a pattern names nothing");
    const std::string_view body = std::string_view(text).substr(0, text.find_last_not_of('/') + 1);
    if (body.find('/') == std::string_view::npos) {
      names.insert(names.begin(), std::string(kAnyFolders));
    }
    glob.alternatives_.push_back(std::move(names));
  }
  return glob;
}

bool PathGlob::matches(std::string_view path) const {
  const Names names = names_of(path);
  return std::ranges::any_of(alternatives_, [&](const Names& pattern) {
    return match_names(pattern, names, names.size());
  });
}

bool PathGlob::covers(std::string_view path) const {
  const Names names = names_of(path);
  for (std::size_t count = 1; count <= names.size(); ++count) {
    for (const Names& pattern : alternatives_) {
      if (match_names(pattern, names, count)) return true;
    }
  }
  return false;
}

}  // namespace sallyport::agent
