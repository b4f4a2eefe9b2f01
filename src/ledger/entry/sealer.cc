#include "ledger/entry/sealer.h"

#include <algorithm>
#include <boost/json.hpp>
#include <limits>

#include "base/exact_numbers.h"
#include "base/json_pointer.h"
#include "ledger/entry/sealed_names.h"

namespace sallyport::ledger {

namespace {

// Leaves room for the receipt around a body within the 128 of LE-8.
constexpr std::size_t kMaxDepth = 120;

// `credential` of a model_audit names the owner of the used key, and is no secret.
bool is_identifier(std::string_view name) {
  constexpr std::string_view kNames[] = {"call_id",   "session_id", "agent_id", "server",
                                         "tool_name", "trace_id",   "run_id",   "credential"};
  constexpr std::size_t kShortest = 6;
  constexpr std::size_t kLongest = 10;
  return name.size() >= kShortest && name.size() <= kLongest &&
         std::ranges::find(kNames, name) != std::end(kNames);
}

constexpr std::string_view kBodyPath = "/body";

json::value parsed(std::string_view own) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  Result<ParsedJson> value = parse_json(own, {.bytes = kAny, .values = kAny});
  return value ? std::move(value->value) : json::value();
}

std::string written(const json::value& value) {
  std::string text;
  append_exact_json(text, value);
  return text;
}

}  // namespace

Result<void> Sealer::append_to(std::string& out) {
  out_ = &out;
  const auto refused = [](std::string message, std::string where = {}) {
    return fail(ErrorCode::InvalidInput, std::move(message), std::move(where));
  };
  if (!is_utf8(body_)) return refused("body: a string is not valid UTF-8");
  const bool sound = object(kMaxDepth) && cursor_.at_end();
  if (!sound) return refused(fault_ != nullptr ? fault_ : "body: not a finite number, or no JSON");
  out.append(body_.substr(copied_));
  if (const core::ExactContent* const exact = misplaced()) {
    return refused("exact content is for sealed fields only", exact->path);
  }
  return {};
}

bool Sealer::fault(const char* why) {
  if (fault_ == nullptr) fault_ = why;
  return false;
}

void Sealer::replace(std::size_t begin, std::string_view with) {
  out_->append(body_.substr(copied_, begin - copied_));
  out_->append(with);
  copied_ = cursor_.at();
}

bool Sealer::value(std::string_view name, std::size_t depth) {
  switch (cursor_.peek()) {
    case '{':
      return object(depth);
    case '[':
      return array(depth);
    case '"':
      return string(name);
    case 't':
    case 'f':
    case 'n':
      return cursor_.take_literal();
    default:
      return number(name);
  }
}

bool Sealer::object(std::size_t depth) {
  if (depth == 0) return fault("body: nested too deep");
  if (!cursor_.take('{')) return false;
  if (cursor_.take('}')) return true;
  std::string_view before;
  do {
    const std::string_view quoted = cursor_.take_string();
    if (quoted.empty() || !cursor_.take(':')) return false;
    if (!before.empty() && !names_in_order(before, quoted)) {
      return fault("body: members that are not in canonical order");
    }
    before = quoted;
    const std::string_view name = quoted.substr(1, quoted.size() - 2);
    steps_.push_back({.name = name});
    const bool sealed = is_sealed_name(name) && cursor_.peek() != 'n';
    if (!(sealed ? content(name, depth - 1) : value(name, depth - 1))) return false;
    steps_.pop_back();
  } while (cursor_.take(','));
  return cursor_.take('}');
}

bool Sealer::array(std::size_t depth) {
  if (depth == 0) return fault("body: nested too deep");
  if (!cursor_.take('[')) return false;
  if (cursor_.take(']')) return true;
  std::size_t index = 0;
  do {
    steps_.push_back({.index = index++, .is_item = true});
    if (!value({}, depth - 1)) return false;
    steps_.pop_back();
  } while (cursor_.take(','));
  return cursor_.take(']');
}

bool Sealer::string(std::string_view name) {
  const std::size_t begin = cursor_.at();
  const std::string_view written = cursor_.take_string();
  if (written.empty()) return false;
  if (is_identifier(name)) {
    redact_identifier(begin, written);
  } else {
    redact_leaf(name, begin, written);
  }
  return true;
}

bool Sealer::number(std::string_view name) {
  const std::size_t begin = cursor_.at();
  const std::string_view written = cursor_.take_number();
  if (written.empty()) return false;
  if (!is_exact_number(written)) return fault("a number of the body is beyond 2^53-1");
  redact_leaf(name, begin, written);
  return true;
}

void Sealer::redact_leaf(std::string_view name, std::size_t begin, std::string_view text) {
  std::string scratch;
  if (name.find('\\') != std::string_view::npos) {
    name = string_in("\"" + std::string(name) + "\"", scratch);
  }
  if (parts_.redactor.is_clean(name, text)) return;
  json::value value = parsed(text);
  if (redact(value, name, text)) replace(begin, canonical_json(value));
}

// True: something was removed. `original` is the unchanged value, in case the redactor leaves it
// half changed.
bool Sealer::redact(json::value& value, std::string_view name, std::string_view original) {
  std::vector<core::Removal> removals;
  try {
    removals = parts_.redactor.redact(name, value);
  } catch (const std::exception&) {
    removals = {{"", "unreadable", std::string(original), "redactor", 0}};
    removals.back().of = removals.back().removed.size();
    value = "[REDACTED:unreadable]";
  }
  if (removals.empty()) return false;
  const std::string here = path();
  for (const core::Removal& removal : removals) {
    redactions.push_back(core::listed(removal, here, parts_.digest));
  }
  return true;
}

std::string Sealer::detector_of(std::string_view identifier) const {
  try {
    json::value value(identifier);
    for (const core::Removal& removal : parts_.redactor.redact({}, value)) {
      if (removal.category == "secret" && !removal.detector.empty()) return removal.detector;
    }
  } catch (const std::exception&) {
    return "redactor";
  }
  return "identifier";
}

// Must equal the entry's member of the same name: if they differ, a receipt fails at `meaning`.
void Sealer::redact_identifier(std::size_t begin, std::string_view written) {
  std::string scratch;
  const std::string name(string_in(written, scratch));
  std::string text = name;
  if (!core::redact_name(parts_.redactor, text)) return;
  core::Removal removal{.category = "secret", .removed = name, .detector = detector_of(name)};
  // The digest is that of the whole name, not of the removed part.
  if (text.starts_with("[REDACTED:") && text.find(']') == text.size() - 1) {
    removal.at = 0;
    removal.of = removal.removed.size();
  }
  redactions.push_back(core::listed(removal, path(), parts_.digest));
  replace(begin, canonical_json(json::value(text)));
}

bool Sealer::content(std::string_view name, std::size_t depth) {
  const std::size_t begin = cursor_.at();
  bool strict = true;
  const std::string_view text = cursor_.take_value(depth, &strict);
  if (text.empty()) return false;
  const std::string here = path();
  Opening opening;
  opening.path.reserve(kBodyPath.size() + here.size());
  opening.path.append(kBodyPath).append(here);
  parts_.entropy.fill(opening.salt);
  const core::ExactContent* const exact = exact_content(here);
  const bool withheld = exact != nullptr && exact->withheld;
  const bool kept = exact != nullptr && exact->unredacted;
  bool redacted = false;
  std::string shown;
  if (!withheld && !kept && !parts_.redactor.is_clean(name, text)) {
    json::value value = parsed(text);
    redacted = redact(value, name, text);
    if (redacted) shown = written(value);
  }
  // Not canonical if RFC 8785 would round a whole number beyond 2^53 (LE-10).
  opening.form = strict ? Form::Json : Form::Raw;
  if (exact != nullptr && (!redacted || exact->withheld_if_redacted)) {
    if (withheld || redacted) opening.state = OpeningState::Withheld;
    if (exact->bytes) opening.form = exact->raw ? Form::Raw : Form::Json;
    opening.value = exact->bytes ? *exact->bytes : std::string(text);
  } else {
    opening.value = redacted ? std::move(shown) : std::string(text);
  }
  const std::string digest = seal_digest(opening.form, opening.salt, opening.value);
  if (opening.state == OpeningState::Withheld) opening.value.clear();
  replace(begin, "{\"$sealed\":\"");
  *out_ += digest;
  *out_ += "\"}";
  openings.push_back(std::move(opening));
  return true;
}

// Exact content without a sealed field: withheld content would be stored unchanged.
const core::ExactContent* Sealer::misplaced() const {
  for (const core::ExactContent& content : exact_) {
    const auto is_for = [path = "/body" + content.path](const Opening& opening) {
      return opening.path == path;
    };
    if (std::ranges::none_of(openings, is_for)) return &content;
  }
  return nullptr;
}

const core::ExactContent* Sealer::exact_content(std::string_view path) const {
  const auto found = std::ranges::find(exact_, path, &core::ExactContent::path);
  return found == exact_.end() ? nullptr : &*found;
}

std::string Sealer::path() const {
  constexpr std::size_t kCommonPath = 48;
  std::string path;
  path.reserve(kCommonPath);
  std::string scratch;
  for (const Step& step : steps_) {
    if (step.is_item) {
      path += '/' + std::to_string(step.index);
    } else if (step.name.find('\\') == std::string_view::npos) {
      append_step(path, step.name);
    } else {
      append_step(path, string_in("\"" + std::string(step.name) + "\"", scratch));
    }
  }
  return path;
}

}  // namespace sallyport::ledger
