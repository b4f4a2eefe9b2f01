#include "guards/redact/text_cleaner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/try.h"
#include "guards/detect/assignment_checks.h"
#include "guards/redact/gathered_text.h"
#include "guards/redact/written_marks.h"

namespace sallyport::guards {

namespace {

bool is_inside(const Hit& hit, const std::vector<Span>& marks) {
  const auto behind = std::ranges::upper_bound(marks, hit.begin, {}, &Span::begin);
  return behind != marks.begin() && hit.end <= std::prev(behind)->end;
}

std::string joined_text(const TextCleaner::Group& group) {
  std::string joined;
  for (const CleanedPart& part : group.parts) joined += part.text;
  return joined;
}

struct Replacement {
  Hit hit;
  std::string mark;
};

// `begin` is the place of the part in the joined text. A match over several parts is marked in each
// of them.
void replace_in_part(CleanedPart& part, std::size_t begin,
                     const std::vector<Replacement>& replacements) {
  const std::size_t end = begin + part.text.size();
  std::string out;
  std::size_t copied = begin;
  auto next = std::ranges::upper_bound(replacements, begin, {},
                                       [](const Replacement& r) { return r.hit.end; });
  bool replaced = false;
  for (; next != replacements.end() && next->hit.begin < end; ++next) {
    const std::size_t from = std::max(next->hit.begin, begin);
    out.append(part.text, copied - begin, from - copied).append(next->mark);
    copied = std::min(next->hit.end, end);
    replaced = true;
  }
  if (!replaced) return;
  out.append(part.text, copied - begin);
  part.text = std::move(out);
  part.changed = true;
}

void cut_parts(TextCleaner::Group& group, std::size_t most) {
  for (CleanedPart& part : group.parts) {
    const std::size_t kept = cut_at_character(part.text, most).size();
    if (kept == part.text.size()) continue;
    part.text.resize(kept);
    part.truncated = true;
    part.changed = true;
  }
}

}  // namespace

TextCleaner::TextCleaner(SanitizerSettings settings, std::string fingerprint_key,
                         std::shared_ptr<const Detectors> detectors,
                         std::shared_ptr<const WordingSet> allowed,
                         std::shared_ptr<const WordingSet> denied)
    : settings_(std::move(settings)),
      fingerprint_key_(std::move(fingerprint_key)),
      detectors_(std::move(detectors)),
      allowed_(std::move(allowed)),
      denied_(std::move(denied)) {}

Result<std::unique_ptr<const TextCleaner>> TextCleaner::build(
    SanitizerSettings settings, std::string fingerprint_key,
    const guardrails::PatternStore* store) {
  std::vector<Wording> denied;
  for (const DenyEntry& entry : settings.deny) denied.push_back(entry.wording);
  SALLYPORT_TRY(auto detectors, Detectors::build(settings.detectors, store));
  SALLYPORT_TRY(auto allow, WordingSet::build(settings.allow, WordingSet::Mode::Whole));
  SALLYPORT_TRY(auto deny, WordingSet::build(denied, WordingSet::Mode::Anywhere));
  return std::unique_ptr<const TextCleaner>(
      new TextCleaner(std::move(settings), std::move(fingerprint_key), std::move(detectors),
                      std::move(allow), std::move(deny)));
}

bool TextCleaner::is_allowed(std::string_view matched) const {
  return !allowed_->empty() && !allowed_->find(matched).empty();
}

// Between marks, not across them: a pattern like `.*` would otherwise take its own marks again.
void TextCleaner::find_denied(std::string_view text, std::vector<Hit>& hits) const {
  if (denied_->empty()) return;
  const auto search = [&](std::size_t begin, std::size_t end) {
    for (const WordingSet::Match& match : denied_->find(text.substr(begin, end - begin))) {
      if (match.begin == match.end) continue;
      hits.push_back({begin + match.begin, begin + match.end, custom_detector(match.wording)});
    }
  };
  std::size_t begin = 0;
  for (const Span& mark : marks_in(text, settings_)) {
    search(begin, mark.begin);
    begin = mark.end;
  }
  search(begin, text.size());
}

std::vector<Hit> TextCleaner::find(std::string_view text) const {
  std::vector<Hit> hits = detectors_->scan(text);
  if (!hits.empty()) {
    const std::vector<Span> marks = marks_in(text, settings_);
    std::erase_if(hits, [&](const Hit& hit) {
      return is_inside(hit, marks) || is_allowed(text.substr(hit.begin, hit.size()));
    });
  }
  if (denied_->empty()) return hits;
  find_denied(text, hits);
  return settled(std::move(hits));
}

std::vector<Hit> TextCleaner::find_in(const Group& group, const std::string& joined) const {
  std::vector<Hit> hits = find(joined);
  if (group.parts.size() == 1) {
    const std::optional<Detector> secret =
        group.member.empty() ? std::nullopt
                             : secret_of_member(group.member, joined, settings_.detectors);
    if (!secret || is_allowed(joined)) return hits;
    hits.push_back({0, joined.size(), *secret});
    return settled(std::move(hits));
  }
  std::size_t begin = 0;
  for (const CleanedPart& part : group.parts) {
    for (const Hit& hit : find(part.text)) {
      hits.push_back({begin + hit.begin, begin + hit.end, hit.detector});
    }
    begin += part.text.size();
  }
  return settled(std::move(hits));
}

std::string TextCleaner::mark_for(const Hit& hit, std::string_view matched,
                                  Strategy strategy) const {
  switch (strategy) {
    case Strategy::Fingerprint:
      return fingerprint_mark(fingerprint_key_, matched);
    case Strategy::Drop:
      return "";
    case Strategy::Partial:
      return partial_mark(hit.detector, matched);
    case Strategy::TypeLabel:
      return label_mark(settings_.name_of(hit.detector));
    case Strategy::Mask:
    case Strategy::Keep:
      break;
  }
  return std::string(kMask);
}

bool TextCleaner::clean_once(Group& group, HitCounts& counts, bool last_resort) const {
  cut_parts(group, settings_.max_string_bytes);
  const std::string joined = joined_text(group);
  std::vector<Replacement> replacements;
  HitCounts kept;
  for (const Hit& hit : find_in(group, joined)) {
    Strategy strategy = settings_.strategy_of(hit.detector);
    if (strategy == Strategy::Keep) {
      ++kept[settings_.name_of(hit.detector)];
      continue;
    }
    const bool own_words =
        settings_.replacement && strategy == Strategy::Mask && !group.is_name && !last_resort;
    if (group.is_name) strategy = Strategy::TypeLabel;
    if (last_resort) strategy = Strategy::Mask;
    const std::string_view matched = std::string_view(joined).substr(hit.begin, hit.size());
    replacements.push_back(
        {hit, own_words ? *settings_.replacement : mark_for(hit, matched, strategy)});
    ++counts[settings_.name_of(hit.detector)];
  }
  if (replacements.empty()) {
    for (const auto& [name, count] : kept) counts[name] += count;
    return false;
  }
  std::size_t begin = 0;
  for (CleanedPart& part : group.parts) {
    const std::size_t size = part.text.size();
    replace_in_part(part, begin, replacements);
    begin += size;
  }
  return true;
}

}  // namespace sallyport::guards
