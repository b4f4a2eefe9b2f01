#include "rules/paths.h"

#include <fmt/format.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <utility>

#include "base/lower_case.h"

namespace sallyport::rules {

namespace {

using Segments = std::span<const std::string>;

constexpr std::size_t kLongestText = 4096;

std::vector<std::string> clean_segments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      segments.emplace_back(segment);
    } else if (!segments.empty()) {
      segments.pop_back();
    }
  }
  return segments;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

std::string unicode_folded(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(status);
  icu::UnicodeString wide =
      icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  if (U_SUCCESS(status)) wide = nfc->normalize(wide, status);
  wide.foldCase();
  // Folding can decompose a text again.
  if (U_SUCCESS(status)) wide = nfc->normalize(wide, status);
  std::string out;
  wide.toUTF8String(out);
  return out;
}

std::size_t point_length(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() &&
         (static_cast<unsigned char>(text[at + length]) & 0xc0) == 0x80) {
    ++length;
  }
  return length;
}

bool is_literal(std::string_view segment) {
  return segment.find_first_of("*?") == std::string_view::npos;
}

// Matches `*` and `?` within one segment.
bool segment_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t kept = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      kept = t;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p;
      t += point_length(text, t);
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++kept;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// True for `**`. Compares single letters, because it runs for every segment of every glob.
bool is_any_depth(const std::string& segment) {
  return segment.size() == 2 && segment[0] == '*' && segment[1] == '*';
}

// `**` stands for any number of segments, also none.
bool segments_match(Segments pattern, Segments path) {
  // Most paths differ from a pattern in the last segment.
  if (!pattern.empty() && !is_any_depth(pattern.back()) &&
      (path.empty() || !segment_matches(pattern.back(), path.back()))) {
    return false;
  }
  std::size_t p = 0;
  std::size_t s = 0;
  std::size_t star = pattern.size();
  std::size_t kept = 0;
  while (s < path.size()) {
    if (p < pattern.size() && is_any_depth(pattern[p])) {
      star = p++;
      kept = s;
    } else if (p < pattern.size() && segment_matches(pattern[p], path[s])) {
      ++p;
      ++s;
    } else if (star != pattern.size()) {
      p = star + 1;
      s = ++kept;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && is_any_depth(pattern[p])) ++p;
  return p == pattern.size();
}

// True if the pattern may match a path below this one.
bool may_match_below(Segments pattern, Segments path) {
  std::vector<bool> states(pattern.size() + 1, false);
  const auto pass_stars = [&](std::vector<bool>& all) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (all[i] && is_any_depth(pattern[i])) all[i + 1] = true;
    }
  };
  states[0] = true;
  pass_stars(states);
  for (const std::string& segment : path) {
    std::vector<bool> next(pattern.size() + 1, false);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (!states[i]) continue;
      if (is_any_depth(pattern[i])) {
        next[i] = true;
      } else if (segment_matches(pattern[i], segment)) {
        next[i + 1] = true;
      }
    }
    pass_stars(next);
    states = std::move(next);
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (states[i]) return true;
  }
  return false;
}

// True if the pattern matches every path below this one.
bool matches_all_below(Segments pattern, Segments path) {
  if (pattern.empty()) return false;
  if (is_any_depth(pattern.back())) return segments_match(pattern, path);
  const bool any_name =
      pattern.size() > 1 && pattern.back() == "*" && is_any_depth(pattern[pattern.size() - 2]);
  return any_name && segments_match(pattern.first(pattern.size() - 1), path);
}

bool starts_with(Segments path, Segments prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

// True if the fixed part of base and pattern is at or below the path.
bool fixed_part_below(Segments base, Segments pattern, Segments path) {
  std::size_t at = 0;
  for (; at < path.size(); ++at) {
    const bool in_base = at < base.size();
    if (!in_base && at - base.size() >= pattern.size()) return false;
    const std::string& own = in_base ? base[at] : pattern[at - base.size()];
    if (!in_base && (is_any_depth(own) || !is_literal(own))) return false;
    if (own != path[at]) return false;
  }
  return true;
}

// True if the path ends inside the fixed part of a pattern that begins with `**`: a change of
// everything below `.git` reaches `**/.git/config`.
bool ends_in_fixed_part(Segments pattern, Segments path) {
  const bool may = !path.empty() && pattern.size() > 1 &&
                   std::ranges::any_of(pattern.first(pattern.size() - 1), [&](const auto& own) {
                     return !is_any_depth(own) && is_literal(own) && own == path.back();
                   });
  if (!may) return false;
  std::vector<bool> states(pattern.size() + 1, false);
  std::vector<bool> fixed(pattern.size() + 1, false);  // reached with a literal
  states[0] = true;
  for (const std::string& segment : path) {
    std::vector<bool> next(pattern.size() + 1, false);
    fixed.assign(pattern.size() + 1, false);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (!states[i]) continue;
      if (is_any_depth(pattern[i])) {
        next[i] = true;
        states[i + 1] = true;  // it stands for nothing
      } else if (segment_matches(pattern[i], segment)) {
        next[i + 1] = true;
        fixed[i + 1] = is_literal(pattern[i]);
      }
    }
    states = std::move(next);
  }
  fixed.pop_back();  // the whole pattern matched
  return std::ranges::find(fixed, true) != fixed.end();
}

Match match_segments(Segments base, Segments pattern, Segments path, const Glob::Query& query) {
  const bool reaches = query.changes_below && fixed_part_below(base, pattern, path);
  if (reaches) return Match::Yes;
  if (query.below && path.size() < base.size()) {
    // A path below may be inside the base.
    return starts_with(base, path) ? Match::Unknown : Match::No;
  }
  if (!starts_with(path, base)) return Match::No;
  const Segments rest = path.subspan(base.size());
  if (query.changes_below && ends_in_fixed_part(pattern, rest)) return Match::Yes;
  if (!query.below) return match_of(segments_match(pattern, rest));
  if (matches_all_below(pattern, rest)) return Match::Yes;
  return may_match_below(pattern, rest) ? Match::Unknown : Match::No;
}

}  // namespace

std::string folded_segment(std::string_view segment) {
  const bool ascii =
      std::ranges::all_of(segment, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string out;
  if (ascii) {
    out.reserve(segment.size());
    for (const char c : segment) out += lower_letter(c);
  } else {
    out = unicode_folded(segment);
  }
  const std::size_t end = out.find_last_not_of(". \t");
  if (end != std::string::npos) out.resize(end + 1);
  return out;
}

PathForm PathForm::of(std::string_view absolute) {
  PathForm form{.segments = clean_segments(absolute)};
  form.folded.reserve(form.segments.size());
  for (const std::string& segment : form.segments) form.folded.push_back(folded_segment(segment));
  form.plain = form.folded == form.segments;
  return form;
}

std::string PathForm::text() const {
  if (segments.empty()) return "/";
  std::string out;
  for (const std::string& segment : segments) out += "/" + segment;
  return out;
}

bool has_magic_link(Segments segments) {
  const auto is = [&](std::size_t at, std::string_view word) {
    return at < segments.size() && segments[at] == word;
  };
  if (is(0, "dev") && is(1, "fd")) return true;
  if (!is(0, "proc") || segments.size() < 3) return false;
  std::size_t at = 2;
  if (is(2, "task") && segments.size() > 4) at = 4;
  return is(at, "root") || is(at, "cwd") || is(at, "exe") || is(at, "fd") || is(at, "map_files") ||
         is(at, "ns");
}

PathForms forms_of(const effects::EffectPath& path, const effects::FileView* files) {
  PathForms made{.below = path.below};
  std::string full = path.text;
  if (!full.starts_with('/')) {
    if (path.unknown || !path.folder) return {.unknown = true, .below = path.below};
    full = *path.folder + "/" + full;
  }
  if (path.unknown || full.find('\0') != std::string::npos || !full.starts_with('/')) {
    return {.unknown = true, .below = path.below};
  }
  made.forms.push_back(PathForm::of(full));
  if (files == nullptr) return made;
  if (full.size() > kLongestText || has_magic_link(made.forms.front().segments)) {
    return {.unknown = true, .below = path.below};
  }
  const std::optional<std::string> real = files->resolve(full);
  if (!real) return {.unknown = true, .below = path.below};
  PathForm resolved = PathForm::of(*real);
  made.resolved = true;
  if (resolved.segments != made.forms.front().segments) made.forms.push_back(std::move(resolved));
  return made;
}

std::vector<PathForm> folder_forms(const std::string& folder, const effects::FileView* files) {
  std::vector<PathForm> forms = {PathForm::of(folder)};
  if (files == nullptr) return forms;
  if (const std::optional<std::string> real = files->resolve(folder)) {
    PathForm resolved = PathForm::of(*real);
    if (resolved != forms.front()) forms.push_back(std::move(resolved));
  }
  return forms;
}

bool is_inside(const PathForm& path, std::span<const PathForm> folders, Side side) {
  return std::ranges::any_of(folders, [&](const PathForm& folder) {
    return starts_with(path.segments, folder.segments) ||
           (side == Side::Wide && starts_with(path.folded, folder.folded));
  });
}

Result<Glob> Glob::parse(std::string_view text) {
  struct Start {
    std::string_view word;
    Root root;
  };
  constexpr Start kStarts[] = {{"~", Root::Home},
                               {"${workspace}", Root::Workspace},
                               {"${cwd}", Root::Cwd},
                               {"${data}", Root::Data},
                               {"${policy}", Root::Policy}};
  Glob glob;
  glob.text_ = text;
  std::string_view rest = text;
  if (text.starts_with("**/")) {
    glob.root_ = Root::Anywhere;
  } else if (!text.starts_with('/')) {
    const auto start = std::ranges::find_if(kStarts, [&](const Start& each) {
      return text.starts_with(each.word) &&
             (text.size() == each.word.size() || text[each.word.size()] == '/');
    });
    if (start == std::end(kStarts)) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{:.200}` begins with neither `/`, `~`, `**/`, `${{workspace}}`, "
                              "`${{cwd}}`, `${{data}}` nor `${{policy}}`; put `**/` before it to "
                              "match in every folder",
                              text));
    }
    glob.root_ = start->root;
    rest.remove_prefix(start->word.size());
  }
  if (text.find('\0') != std::string_view::npos || rest.find("${") != std::string_view::npos) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{:.200}` has a variable after its beginning, or a NUL", text));
  }
  glob.segments_ = split(rest);
  for (const std::string& segment : glob.segments_) {
    if (segment == "." || segment == "..") {
      return fail(
          ErrorCode::InvalidInput,
          fmt::format("`{:.200}` has a segment `{}`; write the path without it", text, segment));
    }
    if (segment != "**" && segment.find("**") != std::string::npos) {
      return fail(ErrorCode::InvalidInput,
                  fmt::format("`{:.200}`: `**` stands alone between slashes", text));
    }
    glob.folded_.push_back(segment == "**" ? segment : folded_segment(segment));
  }
  glob.plain_ = glob.folded_ == glob.segments_;
  return glob;
}

Match Glob::under(const PathForm* base, const Query& query) const {
  static const PathForm kNone;
  const PathForm& from = base ? *base : kNone;
  const Match exact = match_segments(from.segments, segments_, query.path.segments, query);
  if (query.side == Side::Narrow || exact == Match::Yes) return exact;
  if (plain_ && query.path.plain && (base == nullptr || base->plain)) return exact;
  return either(exact, match_segments(from.folded, folded_, query.path.folded, query));
}

Match Glob::matches(const Query& query, const FindRoot& roots) const {
  if (root_ == Root::Absolute || root_ == Root::Anywhere) return under(nullptr, query);
  const RootFolders& folders = roots(root_);
  if (!folders) return Match::Unknown;
  Match found = Match::No;
  for (const PathForm& folder : *folders) found = either(found, under(&folder, query));
  return found;
}

namespace {

// Names use the lower half of the bits, letters the upper half without its last bit.
std::uint64_t name_feature(std::string_view folded) {
  return std::uint64_t{1} << (std::hash<std::string_view>{}(folded) % 32);
}
std::uint64_t letter_feature(char folded) {
  return std::uint64_t{1} << (32 + static_cast<unsigned char>(folded) % 31);
}

}  // namespace

std::uint64_t features_of(const PathForm& form) {
  std::uint64_t all = 0;
  for (const std::string& segment : form.folded) all |= name_feature(segment);
  if (!form.folded.empty() && !form.folded.back().empty()) {
    all |= letter_feature(form.folded.back().back());
  }
  return all;
}

std::optional<std::uint64_t> Glob::feature() const {
  for (std::size_t i = folded_.size(); i-- > 0;) {
    const std::string& segment = folded_[i];
    if (is_any_depth(segment)) continue;
    if (is_literal(segment)) return name_feature(segment);
    const char last = segment.back();
    // After other letters, folding can combine the last letter with the one before it.
    const bool plain = last != '*' && last != '?' && static_cast<unsigned char>(last) < 0x80;
    if (i + 1 == folded_.size() && plain) return letter_feature(last);
  }
  return std::nullopt;
}

namespace {

// True if `outer` matches every list of segments that `inner` matches. False in doubt.
bool segments_cover(Segments outer, Segments inner) {
  if (outer.empty()) return inner.empty();
  if (is_any_depth(outer.front())) {
    if (outer.size() == 1) return true;
    for (std::size_t skip = 0; skip <= inner.size(); ++skip) {
      if (segments_cover(outer.subspan(1), inner.subspan(skip))) return true;
    }
    return false;
  }
  if (inner.empty() || is_any_depth(inner.front())) return false;
  const std::string& segment = inner.front();
  const bool fits = outer.front() == "*" || outer.front() == segment ||
                    (is_literal(segment) && segment_matches(outer.front(), segment));
  return fits && segments_cover(outer.subspan(1), inner.subspan(1));
}

constexpr std::size_t kMostCompared = 16;

}  // namespace

bool Glob::covers(const Glob& other) const {
  if (text_ == other.text_) return true;
  if (segments_.size() > kMostCompared || other.segments_.size() > kMostCompared) return false;
  // `**/x` covers `x` below every root.
  if (root_ != other.root_ && root_ != Root::Anywhere) return false;
  return segments_cover(segments_, other.segments_);
}

}  // namespace sallyport::rules
