#include "core/record/retired_facts.h"

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

constexpr std::size_t kMostAtOnce = 256;

// The new state of a fact. No value: it stays.
std::optional<Fact> after_a_look(const Fact& fact, WallTime oldest, WallTime now) {
  const Result<json::value> read = parse_own_json(fact.value.value_or(""));
  const json::array* const list = read ? read->if_array() : nullptr;
  const json::value* const dated =
      list != nullptr ? (list->empty() ? nullptr : &list->back()) : (read ? &*read : nullptr);
  const Fact gone{fact.space, fact.key, std::nullopt};
  if (dated == nullptr || !dated->is_object()) return gone;
  const auto at = from_rfc3339(text_or_empty(dated->get_object(), "at"));
  if (at) return *at < oldest ? std::optional(gone) : std::nullopt;
  if (list != nullptr) return gone;
  json::object stamped = dated->get_object();
  stamped["at"] = rfc3339(now);
  return Fact{fact.space, fact.key, canonical_json(stamped)};
}

Task<void> change(RecordLog& records, std::vector<Fact> facts, std::vector<Fact> expected) {
  const std::string space = facts.front().space;
  std::vector<Draft> drafts;
  drafts.push_back({.kind = Kind::Topic,
                    .topic = "facts",
                    .body = {{"record", "facts_retired"},
                             {"space", space},
                             {"count", static_cast<std::uint64_t>(facts.size())}},
                    .facts = std::move(facts)});
  const auto written =
      co_await records.append(std::move(drafts), Urgency::Reports, std::move(expected));
  // Another process has changed one of them: the next round looks again.
  if (!written && written.error().code != ErrorCode::Conflict) {
    co_return std::unexpected(written.error());
  }
  co_return Result<void>{};
}

}  // namespace

Task<void> retire_facts(RecordLog& records, std::vector<Retiring> spaces, WallTime now) {
  for (const Retiring& retiring : spaces) {
    SALLYPORT_CO_TRY(const std::vector<Fact> all, records.facts(retiring.space));
    std::vector<Fact> facts;
    std::vector<Fact> expected;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::optional<Fact> changed = after_a_look(all[i], now - retiring.after, now)) {
        facts.push_back(std::move(*changed));
        expected.push_back(all[i]);
      }
      const bool full = facts.size() == kMostAtOnce || (i + 1 == all.size() && !facts.empty());
      if (!full) continue;
      SALLYPORT_CO_CHECK_OK(
          co_await change(records, std::exchange(facts, {}), std::exchange(expected, {})));
    }
  }
  co_return Result<void>{};
}

}  // namespace sallyport::core
