#include "ledger/entry/trust_link.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::ledger {

namespace {

std::string text_of_record(const json::value& record) {
  std::string text = canonical_json(record);
  const json::value* const cost = record.get_object().if_contains("cost_usd");
  if (cost == nullptr || !cost->is_number()) return text;
  const std::string written = canonical_json(*cost);
  // No string before it can hold this: quotes in strings are escaped.
  const std::string member = "\"cost_usd\":" + written;
  if (written.find('.') == std::string::npos) text.insert(text.find(member) + member.size(), ".0");
  return text;
}

}  // namespace

std::string trust_record_text(const json::object& record) {
  return text_of_record(record);
}

std::string trust_entry_hash(json::object record) {
  record.erase("entry_hash");
  return "sha256:" + hex(sha256(text_of_record(json::value(std::move(record)))));
}

core::Fact TrustHead::fact() const {
  return {"trust", "head", fmt::format("{} {}", index, hash.value_or(""))};
}

Result<TrustHead> trust_head(ReadView& view) {
  SALLYPORT_TRY(const std::optional<std::string> stored, view.fact("trust", "head"));
  if (!stored) return TrustHead{};
  const std::size_t blank = stored->find(' ');
  TrustHead head;
  const char* const end = stored->data() + std::min(blank, stored->size());
  const auto [at, code] = std::from_chars(stored->data(), end, head.index);
  if (blank == std::string::npos || code != std::errc() || at != end) {
    return ledger_unavailable("corrupt", "the head of the trust chain cannot be read");
  }
  head.hash = stored->substr(blank + 1);
  return head;
}

bool is_trust_control(const core::Draft& draft) {
  if (draft.kind != core::Kind::Trust) return false;
  const json::object body = draft.body.members();
  const auto action = text_in(body, "action");
  const json::object* const metadata = object_in(body, "metadata");
  return (action && (*action == "trust.promote" || *action == "trust.demote")) ||
         (metadata != nullptr && metadata->contains("control"));
}

}  // namespace sallyport::ledger
