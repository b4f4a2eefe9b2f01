#include "ledger/entry/entry.h"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "base/encoding.h"
#include "base/try.h"
#include "core/event/topic_name.h"
#include "ledger/entry/sealer.h"
#include "ledger/entry/trust_link.h"

namespace sallyport::ledger {

namespace {

std::unexpected<Error> refused(std::string message, std::string where = {}) {
  return fail(ErrorCode::InvalidInput, std::move(message), std::move(where));
}

constexpr std::size_t kMaxContentBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxContentDepth = 120;

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

Result<void> check_draft(const core::Draft& draft) {
  for (const core::ExactContent& exact : draft.exact) {
    if (!exact.bytes || exact.raw || exact.withheld) continue;
    const Result<json::value> value =
        parse_own_json(*exact.bytes, {.bytes = kMaxContentBytes, .depth = kMaxContentDepth});
    if (!value || canonical_json(*value) != *exact.bytes) {
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
  SALLYPORT_CHECK_OK(check_draft(draft));
  SealedDraft sealed;
  sealed.id_ = id;
  sealed.view_ = view_of(draft, id, parts);
  sealed.facts_ = std::move(draft.facts);
  sealed.changes_ = std::move(draft.changes);

  const std::string body = std::move(draft.body).text();
  const Sealer::Parts means{parts.redactor, parts.digest, parts.entropy};
  Sealer sealer(means, draft.exact, body);
  sealer.redactions = std::move(draft.redactions);
  std::string linked;  // a trust record has its place in the chain later
  const bool is_link = draft.kind == core::Kind::Trust;
  if (!is_link) sealed.begin(body.size());
  SALLYPORT_CHECK_OK(sealer.append_to(is_link ? linked : sealed.before_time_));
  sealed.packed_openings_ = pack_openings(sealer.openings);
  shorten(sealer.redactions, parts);
  if (is_link) {
    SALLYPORT_TRY(json::value record, parse_own_json(linked));
    sealed.link_ = Link{std::move(record.get_object()), std::move(sealer.redactions)};
    take_longest_place(sealed.link_->body);
    sealed.render_link();
  } else {
    sealed.finish(sealer.redactions);
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
  render_link();
  return hash;
}

void SealedDraft::render_link() {
  const std::string body = canonical_text(link_->body);
  begin(body.size());
  before_time_ += body;
  finish(link_->redactions);
}

// Everything up to the body.
void SealedDraft::begin(std::size_t body_bytes) {
  constexpr std::size_t kOwnNames = 256;
  before_time_.clear();
  before_time_.reserve(body_bytes + view_.agent_id.size() + view_.call_id.size() +
                       view_.policy_hash.size() + kOwnNames);
  before_time_ = "{";
  Members head(before_time_);
  head.text("agent_id", view_.agent_id);
  head.raw("body", "");
}

// Everything behind the body.
void SealedDraft::finish(const json::array& redactions) {
  constexpr std::size_t kCommonPart = 192;
  before_sequence_.reserve(kCommonPart);
  after_sequence_.clear();
  after_sequence_.reserve(kCommonPart);
  after_topic_.clear();
  Members head(before_time_);
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
