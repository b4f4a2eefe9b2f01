#include "core/plan/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json_members.h"
#include "base/try.h"

namespace sallyport::core {

namespace {

constexpr std::string_view kCounters = "budget";
constexpr std::string_view kCharges = "budget_charge";
constexpr std::string_view kReservations = "budget_hold";

std::int64_t microseconds(WallTime time) {
  return time.time_since_epoch().count();
}

// One counter as it is stored.
struct Counter {
  std::uint64_t used = 0;
  std::uint64_t held = 0;
  std::int64_t last = 0;  // when the newest charge was made

  static Result<Counter> read(const std::optional<std::string>& stored) {
    if (!stored) return Counter{};
    SALLYPORT_TRY(const json::value value, parse_own_json(*stored));
    if (!value.is_object()) return fail(ErrorCode::Corrupt, "a budget cannot be read");
    const json::object& object = value.get_object();
    return Counter{.used = number_in(object, "used").value_or(0),
                   .held = number_in(object, "held").value_or(0),
                   .last = static_cast<std::int64_t>(number_in(object, "last").value_or(0))};
  }

  Fact fact(const std::string& key) const {
    return {std::string(kCounters), key,
            canonical_json(json::object{{"used", used}, {"held", held}, {"last", last}})};
  }
};

// Charges are kept in a ring with one slot for each charge that the rate allows in a window. So the
// charge that must have left the window is found by its number.
std::string slot_key(const std::string& key, std::uint64_t charge, const Rate& rate) {
  return fmt::format("{}/{}", key, charge % rate.max);
}

Result<std::optional<std::string_view>> reached(const Limit& limit, const Counter& counter,
                                                WallTime now, const FactChange::Stored& stored) {
  if (limit.max && counter.used + counter.held >= *limit.max) return budgets::kOverBudget;
  if (!limit.rate) return std::nullopt;
  const Rate& rate = *limit.rate;
  // A reservation may be charged at any moment, so it counts in every window.
  if (counter.held >= rate.max) return budgets::kOverRate;
  const std::uint64_t allowed = rate.max - counter.held;
  if (counter.used < allowed) return std::nullopt;
  SALLYPORT_TRY(const std::optional<std::string> slot,
                stored(kCharges, slot_key(limit.key, counter.used - allowed, rate)));
  std::int64_t charged = 0;
  if (slot) std::from_chars(slot->data(), slot->data() + slot->size(), charged);
  constexpr std::uint64_t kLongest = 100ull * 365 * 24 * 3600;
  const auto window = static_cast<std::int64_t>(std::min(rate.per_seconds, kLongest)) * 1'000'000;
  if (microseconds(now) - charged < window) return budgets::kOverRate;
  return std::nullopt;
}

std::unexpected<Error> exhausted(std::string_view word, const Limit& limit) {
  return fail(ErrorCode::Exhausted, fmt::format("{}: `{}` has no room", word, limit.key), {},
              std::string(word));
}

struct Reserved {
  std::vector<std::string> keys;
  std::string instance_id;
};

Result<Reserved> read_reserved(const std::optional<std::string>& stored) {
  Reserved reserved;
  if (!stored) return reserved;
  SALLYPORT_TRY(const json::value value, parse_own_json(*stored));
  const json::object* const object = value.if_object();
  const json::value* const keys = object ? object->if_contains("keys") : nullptr;
  if (keys == nullptr || !keys->is_array()) {
    return fail(ErrorCode::Corrupt, "the reservation of a call cannot be read");
  }
  for (const json::value& key : keys->get_array()) {
    if (key.is_string()) reserved.keys.emplace_back(key.get_string());
  }
  reserved.instance_id = text_or_empty(*object, "instance");
  return reserved;
}

std::vector<std::string> keys_of(const Spending& spending) {
  std::vector<std::string> keys;
  for (const Limit& limit : spending.limits) keys.push_back(limit.key);
  return keys;
}

Fact no_reservation(const std::string& call_id) {
  return {std::string(kReservations), call_id, std::nullopt};
}

Result<void> give_back(const Reserved& reserved, const FactChange::Stored& stored,
                       std::vector<Fact>& facts) {
  for (const std::string& key : reserved.keys) {
    SALLYPORT_TRY(const std::optional<std::string> text, stored(kCounters, key));
    SALLYPORT_TRY(Counter counter, Counter::read(text));
    if (counter.held > 0) --counter.held;
    facts.push_back(counter.fact(key));
  }
  return {};
}

class Reversal final : public FactChange {
 public:
  explicit Reversal(std::string call_id) : call_id_(std::move(call_id)) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    std::vector<Fact> facts;
    SALLYPORT_TRY(const std::optional<std::string> text, stored(kReservations, call_id_));
    if (!text) return facts;
    SALLYPORT_TRY(const Reserved reserved, read_reserved(text));
    SALLYPORT_CHECK_OK(give_back(reserved, stored, facts));
    facts.push_back(no_reservation(call_id_));
    return facts;
  }

 private:
  std::string call_id_;
};

class Taking final : public FactChange {
 public:
  enum class Step { Reserve, Charge };
  Taking(Step step, Spending spending, Spender spender, WallTime now)
      : step_(step), spending_(std::move(spending)), spender_(std::move(spender)), now_(now) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    std::vector<Fact> facts;
    SALLYPORT_TRY(const std::optional<std::string> text, stored(kReservations, spender_.call_id));
    SALLYPORT_TRY(const Reserved reserved, read_reserved(text));
    const bool held = text && reserved.keys == keys_of(spending_);
    if (held && step_ == Step::Reserve) return facts;
    if (text && !held) SALLYPORT_CHECK_OK(give_back(reserved, stored, facts));
    for (const Limit& limit : spending_.limits) {
      SALLYPORT_CHECK_OK(take(limit, held, stored, facts));
    }
    SALLYPORT_TRY(std::vector<Fact> unknown, unless_stored(spending_.introduces)->facts(stored));
    facts.insert(facts.end(), unknown.begin(), unknown.end());
    if (step_ == Step::Reserve) {
      facts.push_back(reservation_fact());
    } else if (text) {
      facts.push_back(no_reservation(spender_.call_id));
    }
    return facts;
  }

 private:
  Result<void> take(const Limit& limit, bool held, const Stored& stored,
                    std::vector<Fact>& facts) const {
    SALLYPORT_TRY(const std::optional<std::string> text, as_changed(limit.key, stored, facts));
    SALLYPORT_TRY(Counter counter, Counter::read(text));
    if (!held) {
      SALLYPORT_TRY(const std::optional<std::string_view> word,
                    reached(limit, counter, now_, stored));
      if (word) return exhausted(*word, limit);
    }
    if (step_ == Step::Reserve) {
      ++counter.held;
    } else {
      if (held && counter.held > 0) --counter.held;
      // A clock that went back does not make room: charges are never older than those before them.
      counter.last = std::max(counter.last, microseconds(now_));
      if (limit.rate && limit.rate->max > 0) {
        facts.push_back({std::string(kCharges), slot_key(limit.key, counter.used, *limit.rate),
                         std::to_string(counter.last)});
      }
      ++counter.used;
    }
    facts.push_back(counter.fact(limit.key));
    return {};
  }

  // What was given back a moment ago counts already.
  static Result<std::optional<std::string>> as_changed(const std::string& key, const Stored& stored,
                                                       const std::vector<Fact>& facts) {
    for (auto fact = facts.rbegin(); fact != facts.rend(); ++fact) {
      if (fact->space == kCounters && fact->key == key) return fact->value;
    }
    return stored(kCounters, key);
  }

  Fact reservation_fact() const {
    json::array keys;
    for (const Limit& limit : spending_.limits) keys.emplace_back(limit.key);
    return {std::string(kReservations), spender_.call_id,
            canonical_json(
                json::object{{"keys", std::move(keys)}, {"instance", spender_.instance_id}})};
  }

  Step step_;
  Spending spending_;
  Spender spender_;
  WallTime now_;
};

}  // namespace

bool Spending::limited() const {
  return std::ranges::any_of(limits, [](const Limit& limit) { return limit.max || limit.rate; });
}

namespace budgets {

std::shared_ptr<const FactChange> reserve(Spending spending, Spender spender, WallTime now) {
  return std::make_shared<Taking>(Taking::Step::Reserve, std::move(spending), std::move(spender),
                                  now);
}

std::shared_ptr<const FactChange> charge(Spending spending, Spender spender, WallTime now) {
  return std::make_shared<Taking>(Taking::Step::Charge, std::move(spending), std::move(spender),
                                  now);
}

std::shared_ptr<const FactChange> reverse(std::string call_id) {
  return std::make_shared<Reversal>(std::move(call_id));
}

Result<std::optional<std::string_view>> full(RecordReader& reader, const Limit& limit,
                                             WallTime now) {
  if (!limit.max && !limit.rate) return std::nullopt;
  const FactChange::Stored stored = [&reader](std::string_view space, std::string_view key) {
    return reader.fact(space, key);
  };
  SALLYPORT_TRY(const std::optional<std::string> text, stored(kCounters, limit.key));
  SALLYPORT_TRY(const Counter counter, Counter::read(text));
  return reached(limit, counter, now, stored);
}

Fact used_fact(const std::string& key, std::uint64_t used) {
  return Counter{.used = used}.fact(key);
}

Result<Count> count(RecordReader& reader, std::string_view key) {
  SALLYPORT_TRY(const std::optional<std::string> text, reader.fact(kCounters, key));
  SALLYPORT_TRY(const Counter counter, Counter::read(text));
  return Count{counter.used, counter.held};
}

Result<std::vector<std::string>> reserved_by(RecordReader& reader, std::string_view call_id) {
  SALLYPORT_TRY(const std::optional<std::string> text, reader.fact(kReservations, call_id));
  SALLYPORT_TRY(Reserved reserved, read_reserved(text));
  return std::move(reserved.keys);
}

Result<std::vector<Reservation>> all_reservations(RecordReader& reader) {
  SALLYPORT_TRY(std::vector<Fact> facts, reader.facts(kReservations));
  std::vector<Reservation> all;
  for (Fact& fact : facts) {
    SALLYPORT_TRY(Reserved reserved, read_reserved(fact.value));
    all.push_back({std::move(fact), std::move(reserved.instance_id)});
  }
  return all;
}

}  // namespace budgets

}  // namespace sallyport::core
