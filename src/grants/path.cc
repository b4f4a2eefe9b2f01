#include "grants/path.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/encoding.h"
#include "base/json_members.h"
#include "base/lower_case.h"
#include "grants/leaves.h"

namespace sallyport::grants {

namespace {

constexpr auto kPathKeys = std::to_array<std::string_view>(
    {"path", "paths", "file", "files", "file_path", "filename", "dir", "directory", "cwd", "root",
     "repo_path", "source", "destination", "src", "dst", "old_path", "new_path", "target"});
constexpr auto kContentKeys =
    std::to_array<std::string_view>({"content", "contents", "text", "data", "body", "message",
                                     "oldText", "newText", "old_string", "new_string"});

bool is_drive_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::ranges::equal(text.substr(0, word.size()), word, {}, lower_letter);
}

bool has_drive(std::string_view text) {
  return text.size() >= 2 && is_drive_letter(text[0]) && text[1] == ':';
}

bool looks_like_path(std::string_view text) {
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with('~') || has_drive(text) || starts_with_word(text, "file:");
}

// The path of a `file:` address on this host. No value with a query or a fragment, because such an
// address can be read in two ways.
std::optional<std::string> path_of_address(std::string_view address) {
  address.remove_prefix(std::string_view("file:").size());
  if (address.find_first_of("?#") != std::string_view::npos) return std::nullopt;
  if (address.starts_with("//")) {
    address.remove_prefix(2);
    const std::size_t slash = address.find_first_of("/\\");
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view host = address.substr(0, slash);
    if (!host.empty() && !(host.size() == 9 && starts_with_word(host, "localhost"))) {
      return std::nullopt;
    }
    address.remove_prefix(slash);
  }
  if (!address.starts_with('/') && !address.starts_with('\\')) return std::nullopt;
  std::optional<std::string> path = percent_decoded(address);
  if (path && has_drive(std::string_view(*path).substr(1))) path->erase(0, 1);
  return path;
}

// Converts backslashes to slashes and a `file:` address to its path.
std::optional<std::string> plain_path(std::string_view text) {
  std::string path(text);
  if (starts_with_word(text, "file:")) {
    std::optional<std::string> named = path_of_address(text);
    if (!named) return std::nullopt;
    path = std::move(*named);
  }
  if (path.find('\0') != std::string::npos || path.starts_with('~')) return std::nullopt;
  std::ranges::replace(path, '\\', '/');
  return path;
}

// No value if `..` would leave the root.
bool add_segments(std::string_view text, std::vector<std::string>& segments) {
  while (!text.empty()) {
    const std::string_view segment = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(text.size(), segment.size() + 1));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.emplace_back(segment);
    } else if (segments.empty()) {
      return false;
    } else {
      segments.pop_back();
    }
  }
  return true;
}

std::optional<Path> resolved(std::string_view text, const std::optional<Path>& base) {
  const std::optional<std::string> plain = plain_path(text);
  if (!plain) return std::nullopt;
  std::string_view rest = *plain;
  Path path;
  if (has_drive(rest)) {
    path.drive = {lower_letter(rest[0]), ':'};
    rest.remove_prefix(2);
    // `c:x` is relative to an unknown folder.
    if (!rest.starts_with('/')) return std::nullopt;
  }
  if (!rest.starts_with('/')) {
    if (!base) return std::nullopt;
    path = *base;
  }
  if (!add_segments(rest, path.segments)) return std::nullopt;
  return path;
}

// The base of relative paths: the only absolute `cwd` or `root` of the input (CG-44).
std::optional<Path> base_of(const json::value& input) {
  std::vector<Path> bases;
  const auto named = [](std::string_view name) {
    return std::optional<bool>(names(kBaseKeys, name));
  };
  visit_strings(input, false, named, [&](std::string_view text, bool is_base) {
    if (!is_base) return;
    if (std::optional<Path> base = absolute_path(text)) bases.push_back(std::move(*base));
  });
  if (bases.size() != 1) return std::nullopt;
  return bases.front();
}

enum class Under { Neither, PathKey, ContentKey };

}  // namespace

std::vector<std::string_view> path_leaves(const json::value& input) {
  std::vector<std::string_view> leaves;
  const auto named = [](std::string_view name) -> std::optional<Under> {
    if (names(kPathKeys, name)) return Under::PathKey;
    if (names(kContentKeys, name)) return Under::ContentKey;
    return std::nullopt;
  };
  visit_strings(input, Under::Neither, named, [&](std::string_view text, Under under) {
    if (under == Under::PathKey || (under == Under::Neither && looks_like_path(text))) {
      leaves.push_back(text);
    }
  });
  return leaves;
}

bool Path::covers(const Path& other) const {
  return drive == other.drive && segments.size() <= other.segments.size() &&
         std::equal(segments.begin(), segments.end(), other.segments.begin());
}

std::optional<Path> absolute_path(std::string_view text) {
  return resolved(text, std::nullopt);
}

std::optional<PathPrefix> PathPrefix::parse(const json::value& value) {
  PathPrefix parsed;
  std::optional<std::string_view> prefix;
  if (value.is_string()) prefix = std::string_view(value.get_string());
  if (const json::object* const object = value.if_object()) {
    const json::value* const at = object->if_contains("at");
    if (object->size() != 2 || at == nullptr || !at->is_array()) return std::nullopt;
    prefix = text_in(*object, "prefix");
    parsed.selects_ = true;
    parsed.at_ = canonical_json(*at);
    for (const json::value& each : at->get_array()) {
      if (!each.is_string()) return std::nullopt;
      std::optional<Selector> selector = Selector::parse(each.get_string());
      if (!selector) return std::nullopt;
      parsed.selectors_.push_back(std::move(*selector));
    }
  }
  std::optional<Path> path = prefix ? absolute_path(*prefix) : std::nullopt;
  if (!path) return std::nullopt;
  parsed.prefix_ = std::move(*path);
  return parsed;
}

bool PathPrefix::matches(const json::value& input) const {
  std::vector<std::string_view> leaves;
  if (selects_) {
    for (const Selector& selector : selectors_) {
      const std::vector<const json::value*> found = selector.select(input);
      if (found.empty()) return false;
      for (const json::value* const each : found) {
        if (!each->is_string()) return false;
        leaves.emplace_back(each->get_string());
      }
    }
  } else {
    leaves = path_leaves(input);
  }
  if (leaves.empty()) return false;
  const std::optional<Path> base = base_of(input);
  return std::ranges::all_of(leaves, [&](std::string_view leaf) {
    const std::optional<Path> path = resolved(leaf, base);
    return path && prefix_.covers(*path);
  });
}

bool PathPrefix::within(const PathPrefix& other) const {
  return selects_ == other.selects_ && at_ == other.at_ && other.prefix_.covers(prefix_);
}

}  // namespace sallyport::grants
