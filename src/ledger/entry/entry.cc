#include "ledger/entry/entry.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "base/encoding.h"
#include "base/exact_numbers.h"
#include "base/json_pointer.h"
#include "base/try.h"
#include "core/event/topic_name.h"
#include "ledger/entry/sealed_names.h"
#include "ledger/entry/trust_link.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> refused(std::string message, std::string where = {}) {
  return fail(ErrorCode::InvalidInput, std::move(message), std::move(where));
}

// Leaves room for the receipt around a body within the 128 of LE-8.
constexpr std::size_t kMaxDepth = 120;
constexpr std::size_t kMaxContentBytes = std::size_t{1} << 30;

// `credential` of a model_audit says whose key was used, and is none.
bool is_identifier(std::string_view name) {
  constexpr std::string_view kNames[] = {"call_id",   "session_id", "agent_id", "server",
                                         "tool_name", "trace_id",   "run_id",   "credential"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// True when it was changed. What cannot be read is not stored either.
bool without_secrets(const core::Redactor& redactor, std::string& text) {
  try {
    return redactor.redact_identifier(text);
  } catch (const std::exception&) {
    text = "[REDACTED:unreadable]";
    return true;
  }
}

// Redacts and seals one body, in place.
class Sealer {
 public:
  Sealer(const SealedDraft::Parts& parts, std::vector<core::ExactContent> exact)
      : parts_(parts), exact_(std::move(exact)) {}

  void walk(json::object& body) {
    std::string path;
    members(body, path);
  }

  // Exact content that met no sealed field: what should be withheld would be stored as it stands.
  const core::ExactContent* misplaced() const {
    for (const core::ExactContent& content : exact_) {
      const auto is_for = [path = "/body" + content.path](const Opening& opening) {
        return opening.path == path;
      };
      if (std::ranges::none_of(openings, is_for)) return &content;
    }
    return nullptr;
  }

  std::vector<Opening> openings;
  json::array redactions;

 private:
  void members(json::object& object, std::string& path) {
    const std::size_t length = path.size();
    for (json::key_value_pair& member : object) {
      append_step(path, member.key());
      if (!is_sealed_name(member.key())) {
        walk(member.value(), member.key(), path);
      } else if (!member.value().is_null()) {
        seal(member.value(), member.key(), path);
      }
      path.resize(length);
    }
  }

  void walk(json::value& value, std::string_view name, std::string& path) {
    const std::size_t length = path.size();
    if (json::object* const object = value.if_object()) {
      members(*object, path);
    } else if (json::array* const array = value.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        path += '/' + std::to_string(i);
        walk((*array)[i], {}, path);
        path.resize(length);
      }
    } else if (value.is_string() && is_identifier(name)) {
      redact_identifier(value, path);
    } else if (value.is_string() || value.is_number()) {
      redact(value, name, path, nullptr);
    }
  }

  // True when something was taken out. `original` is what the value stood for, should the redactor
  // leave it half changed; a scalar it leaves whole.
  bool redact(json::value& value, std::string_view name, const std::string& path,
              const std::string* original) {
    std::vector<core::Removal> removals;
    try {
      removals = parts_.redactor.redact(name, value);
    } catch (const std::exception&) {
      removals = {{"", "unreadable", original ? *original : canonical_json(value), "redactor", 0}};
      removals.back().of = removals.back().removed.size();
      value = "[REDACTED:unreadable]";
    }
    if (removals.empty()) return false;
    for (const core::Removal& removal : removals) {
      redactions.push_back(core::listed(removal, path, parts_.digest));
    }
    return true;
  }

  std::string detector_of(json::value identifier) const {
    try {
      for (const core::Removal& removal : parts_.redactor.redact({}, identifier)) {
        if (removal.category == "secret" && !removal.detector.empty()) return removal.detector;
      }
    } catch (const std::exception&) {
      return "redactor";
    }
    return "identifier";
  }

  // Like the entry's own member of that name: where the two differ a receipt fails at `meaning`.
  void redact_identifier(json::value& value, const std::string& path) {
    std::string text(value.get_string());
    if (!without_secrets(parts_.redactor, text)) return;
    core::Removal removal{.category = "secret",
                          .removed = std::string(value.get_string()),
                          .detector = detector_of(value)};
    // The digest is that of the whole name, whatever part of it went.
    if (text.starts_with("[REDACTED:") && text.find(']') == text.size() - 1) {
      removal.at = 0;
      removal.of = removal.removed.size();
    }
    redactions.push_back(core::listed(removal, path, parts_.digest));
    value = text;
  }

  void seal(json::value& value, std::string_view name, const std::string& path) {
    Opening opening{.path = "/body" + path};
    parts_.entropy.fill(opening.salt);
    const core::ExactContent* const exact = exact_content(path);
    const bool withheld = exact != nullptr && exact->withheld;
    // Not canonical where RFC 8785 would round a whole number beyond 2^53, and say another (LE-10).
    const bool strict = numbers_are_exact(value);
    std::string bytes = strict ? canonical_json(value) : json::serialize(value);
    const bool kept = exact != nullptr && exact->unredacted;
    const bool redacted = !withheld && !kept && redact(value, name, path, &bytes);
    if (exact != nullptr && (!redacted || exact->withheld_if_redacted)) {
      if (withheld || redacted) opening.state = OpeningState::Withheld;
      opening.form = exact->raw ? Form::Raw : Form::Json;
      opening.value = exact->bytes;
    } else {
      opening.form = strict ? Form::Json : Form::Raw;
      if (redacted) bytes = strict ? canonical_json(value) : json::serialize(value);
      opening.value = std::move(bytes);
    }
    const std::string digest = seal_digest(opening.form, opening.salt, opening.value);
    if (opening.state == OpeningState::Withheld) opening.value.clear();
    value = json::object{{"$sealed", digest}};
    openings.push_back(std::move(opening));
  }

  const core::ExactContent* exact_content(const std::string& path) const {
    for (const core::ExactContent& content : exact_) {
      if (content.path == path) return &content;
    }
    return nullptr;
  }

  const SealedDraft::Parts& parts_;
  std::vector<core::ExactContent> exact_;
};

// Writes members that apply, in canonical order as long as the caller does.
class Members {
 public:
  explicit Members(std::string& out, bool follows = false) : out_(out), follows_(follows) {}
  void text(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    key(name);
    append_canonical_string(out_, value);
  }
  void raw(std::string_view name, std::string_view value) {
    key(name);
    out_ += value;
  }

 private:
  void key(std::string_view name) {
    if (follows_ || (!out_.empty() && out_.back() != '{')) out_ += ',';
    out_ += '"';
    out_ += name;  // ours, and plain
    out_ += "\":";
  }
  std::string& out_;
  bool follows_;  // something stands before what is written here
};

Result<void> check_draft(const core::Draft& draft, const json::value& body) {
  if (Result<void> ok = check_json(body, kMaxDepth); !ok) {
    return refused("body: " + ok.error().message);
  }
  for (const core::ExactContent& exact : draft.exact) {
    if (exact.raw || exact.withheld) continue;
    const Result<json::value> value =
        parse_own_json(exact.bytes, {.bytes = kMaxContentBytes, .depth = kMaxDepth});
    if (!value || canonical_json(*value) != exact.bytes) {
      return refused("exact content is neither canonical JSON nor raw", exact.path);
    }
  }
  const Subject& s = draft.subject;
  for (const std::string* const text :
       {&s.policy_hash, &s.call_id, &s.session_id, &s.agent_id, &s.server, &s.tool_name,
        &s.trace_id, &s.run_id, &draft.outcome, &draft.topic}) {
    if (text->size() > 4096 || !is_utf8(*text)) {
      return refused("a member is over 4,096 bytes or not UTF-8");
    }
  }
  if (!draft.topic.empty()) SALLYPORT_CHECK_OK(core::check_topic_name(draft.topic));
  return {};
}

// Moved into a value and back, which is not a copy.
std::string canonical_text(json::object& object) {
  json::value whole(std::move(object));
  std::string text = canonical_json(whole);
  object = std::move(whole.get_object());
  return text;
}

// An entry has room for a list of removals, not for thousands: what is behind the list is counted.
void shorten(json::array& redactions, const SealedDraft::Parts& parts) {
  constexpr std::size_t kListed = 200;
  constexpr std::size_t kBytes = 24 * 1024;
  std::size_t bytes = 0;
  std::size_t listed = 0;
  while (listed < redactions.size() && listed < kListed) {
    bytes += canonical_json(redactions[listed]).size();
    if (bytes > kBytes) break;
    ++listed;
  }
  if (listed == redactions.size()) return;
  const json::array rest(redactions.begin() + static_cast<long>(listed), redactions.end());
  redactions.erase(redactions.begin() + static_cast<long>(listed), redactions.end());
  redactions.push_back(json::object{{"path", ""},
                                    {"category", fmt::format("{} more", rest.size())},
                                    {"digest", parts.digest(canonical_json(rest))},
                                    {"detector", "several"}});
}

// Takes what it needs of the draft.
EntryView view_of(core::Draft& draft, const Uuid& id, const SealedDraft::Parts& parts) {
  Subject& subject = draft.subject;
  for (std::string* const text :
       {&subject.call_id, &subject.session_id, &subject.agent_id, &subject.server,
        &subject.tool_name, &subject.trace_id, &subject.run_id}) {
    without_secrets(parts.redactor, *text);
  }
  return {.id = to_string(id),
          .kind = std::string(core::to_string(draft.kind)),
          .instance_id = std::string(parts.instance_id),
          .policy_hash = std::move(subject.policy_hash),
          .call_id = std::move(subject.call_id),
          .session_id = std::move(subject.session_id),
          .agent_id = std::move(subject.agent_id),
          .server = std::move(subject.server),
          .tool_name = std::move(subject.tool_name),
          .outcome = std::move(draft.outcome),
          .trace_id = std::move(subject.trace_id),
          .run_id = std::move(subject.run_id),
          .topic = std::move(draft.topic)};
}

// A trust record learns its place in the chain inside the transaction. Nothing is longer than this,
// so that what fits now fits then.
void take_longest_place(json::object& record) {
  const std::string hash = "sha256:" + std::string(64, '0');
  record["chain_index"] = (std::uint64_t{1} << 53) - 1;
  record["previous_hash"] = hash;
  record["entry_hash"] = hash;
}

}  // namespace

Result<SealedDraft> SealedDraft::seal(core::Draft draft, const Uuid& id, const Parts& parts) {
  json::value body = std::move(draft.body);
  SALLYPORT_CHECK_OK(check_draft(draft, body));
  Sealer sealer(parts, std::move(draft.exact));
  sealer.redactions = std::move(draft.redactions);
  sealer.walk(body.get_object());
  if (const core::ExactContent* const exact = sealer.misplaced()) {
    return refused("exact content is for sealed fields only", exact->path);
  }
  if (!numbers_are_exact(body)) return refused("a number of the body is beyond 2^53-1");

  SealedDraft sealed;
  sealed.id_ = id;
  sealed.view_ = view_of(draft, id, parts);
  sealed.facts_ = std::move(draft.facts);
  sealed.changes_ = std::move(draft.changes);
  sealed.packed_openings_ = pack_openings(sealer.openings);
  shorten(sealer.redactions, parts);
  if (draft.kind == core::Kind::Trust) {
    sealed.link_ = Link{std::move(body.get_object()), std::move(sealer.redactions)};
    take_longest_place(sealed.link_->body);
    sealed.render(canonical_text(sealed.link_->body), sealed.link_->redactions);
  } else {
    sealed.render(canonical_json(body), sealer.redactions);
  }

  constexpr std::size_t kTimeAndNumbers = 27 + 20 + 20 + 2;
  const std::size_t size = sealed.size() - sealed.packed_openings_.size() + kTimeAndNumbers;
  if (size > kMaxEntryBytes) {
    return refused(
        fmt::format("an entry of about {} bytes, the limit is {}", size, kMaxEntryBytes));
  }
  return sealed;
}

std::string SealedDraft::link(std::uint64_t index,
                              const std::optional<std::string>& previous_hash) {
  json::object& record = link_->body;
  record["chain_index"] = index;
  record["previous_hash"] = previous_hash ? json::value(*previous_hash) : json::value();
  std::string hash = trust_entry_hash(record);
  record["entry_hash"] = hash;
  render(canonical_text(record), link_->redactions);
  return hash;
}

void SealedDraft::render(std::string_view body, const json::array& redactions) {
  after_sequence_.clear();
  after_topic_.clear();
  constexpr std::size_t kOwnNames = 256;
  before_time_.reserve(body.size() + view_.agent_id.size() + view_.call_id.size() +
                       view_.policy_hash.size() + kOwnNames);
  before_time_ = "{";
  Members head(before_time_);
  head.text("agent_id", view_.agent_id);
  head.raw("body", body);
  head.text("call_id", view_.call_id);
  head.text("id", view_.id);
  head.text("instance_id", view_.instance_id);
  head.text("kind", view_.kind);
  head.text("outcome", view_.outcome);
  head.text("policy_hash", view_.policy_hash);
  head.raw("recorded_at", "\"");

  before_sequence_ = "\"";
  Members middle(before_sequence_);
  if (!redactions.empty()) middle.raw("redactions", canonical_json(redactions));
  middle.text("run_id", view_.run_id);
  middle.text("schema", kEntrySchema);
  middle.raw("sequence", "");

  // A number will stand before each of the last two parts, and so the comma that it needs.
  Members tail(after_sequence_, true);
  tail.text("server", view_.server);
  tail.text("session_id", view_.session_id);
  tail.text("tool_name", view_.tool_name);
  tail.text("topic", view_.topic);
  if (!view_.topic.empty()) tail.raw("topic_id", "");
  Members end(view_.topic.empty() ? after_sequence_ : after_topic_, true);
  end.text("trace_id", view_.trace_id);
}

std::size_t SealedDraft::size() const {
  return before_time_.size() + before_sequence_.size() + after_sequence_.size() +
         after_topic_.size() + packed_openings_.size();
}

std::string SealedDraft::bytes(std::uint64_t sequence, WallTime recorded_at,
                               std::uint64_t topic_id) const {
  std::string out;
  out.reserve(before_time_.size() + before_sequence_.size() + after_sequence_.size() +
              after_topic_.size() + 80);
  out += before_time_;
  out += rfc3339(recorded_at);
  out += before_sequence_;
  out += std::to_string(sequence);
  out += after_sequence_;
  if (!view_.topic.empty()) out += std::to_string(topic_id) + after_topic_;
  out += '}';
  return out;
}

}  // namespace sallyport::ledger
