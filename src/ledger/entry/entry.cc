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
constexpr const char* kMemberTooLong = "a member is over 4,096 bytes or not UTF-8";

// Appends a member that applies. `name` has its quotes, the comma before it and the colon.
void put(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += name;
  append_canonical_string(out, value);
}

bool fits(const std::string& text) {
  constexpr std::size_t kLongest = 4096;
  return text.size() <= kLongest && is_utf8(text);
}

Result<void> check_draft(const core::Draft& draft) {
  for (const core::ExactContent& exact : draft.exact) {
    if (!exact.bytes || exact.raw || exact.withheld) continue;
    const Result<json::value> value =
        parse_own_json(*exact.bytes, {.bytes = kMaxContentBytes, .depth = kMaxContentDepth});
    if (!value || canonical_json(*value) != *exact.bytes) {
      return refused("exact content is neither canonical JSON nor raw", exact.path);
    }
  }
  if (!fits(draft.outcome) || !fits(draft.topic)) return refused(kMemberTooLong);
  if (!draft.topic.empty()) SALLYPORT_CHECK_OK(core::check_topic_name(draft.topic));
  return {};
}

// Moves the object into a value and back, without a copy.
std::string canonical_text(json::object& object) {
  json::value whole(std::move(object));
  std::string text = canonical_json(whole);
  object = std::move(whole.get_object());
  return text;
}

// An entry has room for a short list of removals. The rest is only counted.
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

// The subject as entries show it.
Result<core::SharedSubject> shown(const core::SharedSubject& given,
                                  const core::Redactor& redactor) {
  const Subject& names = given;
  if (!fits(names.policy_hash)) return refused(kMemberTooLong);
  for (std::string Subject::* const name : core::kSubjectNames) {
    if (!fits(names.*name)) return refused(kMemberTooLong);
  }
  return core::redacted(given, redactor);
}

// A trust record gets its place in the chain inside the transaction. This is the longest place, so
// a record that fits now fits then.
void take_longest_place(json::object& record) {
  const std::string hash = "sha256:" + std::string(64, '0');
  record["chain_index"] = (std::uint64_t{1} << 53) - 1;
  record["previous_hash"] = hash;
  record["entry_hash"] = hash;
}

}  // namespace

Result<SealedDraft> SealedDraft::seal(core::Draft draft, const Uuid& id, const Parts& parts,
                                      LastSubject& last) {
  SALLYPORT_CHECK_OK(check_draft(draft));
  if (!draft.subject.is(last.given)) {
    SALLYPORT_TRY(last.shown, shown(draft.subject, parts.redactor));
    last.given = std::move(draft.subject);
  }
  SealedDraft sealed;
  sealed.id_ = id;
  sealed.kind_ = draft.kind;
  sealed.instance_id_ = parts.instance_id;
  sealed.subject_ = last.shown;
  sealed.outcome_ = std::move(draft.outcome);
  sealed.topic_ = std::move(draft.topic);
  sealed.facts_ = std::move(draft.facts);
  sealed.changes_ = std::move(draft.changes);

  const std::string body = std::move(draft.body).text();
  const Sealer::Parts means{parts.redactor, parts.digest, parts.entropy};
  Sealer sealer(means, draft.exact, body);
  sealer.redactions = std::move(draft.redactions);
  std::string linked;  // a trust record has its place in the chain later
  const bool is_link = draft.kind == core::Kind::Trust;
  if (!is_link) sealed.begin(body.size());
  SALLYPORT_CHECK_OK(sealer.append_to(is_link ? linked : sealed.text_));
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

  constexpr std::size_t kTimeAndNumbers = 27 + 20 + 20 + 1;
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
  text_ += body;
  finish(link_->redactions);
}

// Writes everything before the body.
void SealedDraft::begin(std::size_t body_bytes) {
  constexpr std::size_t kOwnNames = 768;
  text_.clear();
  text_.reserve(body_bytes + kOwnNames);
  text_ = '{';
  if (!subject_->agent_id.empty()) {
    put(text_, R"("agent_id":)", subject_->agent_id);
    text_ += ',';
  }
  text_ += R"("body":)";
}

// Writes everything after the body.
void SealedDraft::finish(const json::array& redactions) {
  put(text_, R"(,"call_id":)", subject_->call_id);
  put(text_, R"(,"id":)", to_string(id_));
  put(text_, R"(,"instance_id":)", instance_id_);
  put(text_, R"(,"kind":)", core::to_string(kind_));
  put(text_, R"(,"outcome":)", outcome_);
  put(text_, R"(,"policy_hash":)", subject_->policy_hash);
  text_ += R"(,"recorded_at":")";
  time_at_ = text_.size();
  text_ += '"';
  if (!redactions.empty()) text_.append(R"(,"redactions":)").append(canonical_json(redactions));
  put(text_, R"(,"run_id":)", subject_->run_id);
  put(text_, R"(,"schema":)", kEntrySchema);
  text_ += R"(,"sequence":)";
  sequence_at_ = text_.size();
  put(text_, R"(,"server":)", subject_->server);
  put(text_, R"(,"session_id":)", subject_->session_id);
  put(text_, R"(,"tool_name":)", subject_->tool_name);
  put(text_, R"(,"topic":)", topic_);
  if (!topic_.empty()) text_ += R"(,"topic_id":)";
  topic_id_at_ = text_.size();
  put(text_, R"(,"trace_id":)", subject_->trace_id);
  text_ += '}';
}

std::size_t SealedDraft::size() const {
  return text_.size() + packed_openings_.size();
}

std::string SealedDraft::bytes(std::uint64_t sequence, WallTime recorded_at,
                               std::uint64_t topic_id) const {
  constexpr std::size_t kTimeAndNumbers = 80;
  const std::string_view text = text_;
  std::string out;
  out.reserve(text.size() + kTimeAndNumbers);
  out += text.substr(0, time_at_);
  out += rfc3339(recorded_at);
  out += text.substr(time_at_, sequence_at_ - time_at_);
  out += std::to_string(sequence);
  out += text.substr(sequence_at_, topic_id_at_ - sequence_at_);
  if (!topic_.empty()) out += std::to_string(topic_id);
  out += text.substr(topic_id_at_);
  return out;
}

}  // namespace sallyport::ledger
