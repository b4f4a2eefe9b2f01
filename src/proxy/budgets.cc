#include "proxy/budgets.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::proxy {

namespace {

using core::Fact;
using core::FactChange;
using core::ModelBudget;

constexpr std::string_view kCounters = "model_budget";
constexpr std::uint64_t kMinutes = 60;

// A fact can hold no larger number, so counters stop there.
constexpr std::uint64_t kFull = llm::kMostCount;

json::object to_json(const Amount& amount) {
  return {{"in", std::min(amount.input_tokens, kFull)},
          {"out", std::min(amount.output_tokens, kFull)},
          {"cost", std::min(amount.cost_microusd, kFull)}};
}

// No value: the amount cannot be read.
std::optional<Amount> amount_in(const json::object& object) {
  const auto input = number_in(object, "in");
  const auto output = number_in(object, "out");
  const auto cost = number_in(object, "cost");
  if (!input || !output || !cost) return std::nullopt;
  return Amount{*input, *output, *cost};
}

std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
  return std::min(one, kFull) + std::min(other, kFull - std::min(one, kFull));
}

void add(Amount& to, const Amount& more) {
  to.input_tokens = sum(to.input_tokens, more.input_tokens);
  to.output_tokens = sum(to.output_tokens, more.output_tokens);
  to.cost_microusd = sum(to.cost_microusd, more.cost_microusd);
}

std::uint64_t less(std::uint64_t from, std::uint64_t taken) {
  return from > taken ? from - taken : 0;
}

void subtract(Amount& from, const Amount& taken) {
  from.input_tokens = less(from.input_tokens, taken.input_tokens);
  from.output_tokens = less(from.output_tokens, taken.output_tokens);
  from.cost_microusd = less(from.cost_microusd, taken.cost_microusd);
}

// The content of a counter: amounts by minute. Minute `0` is used by counters that do not slide.
class Counted {
 public:
  // A counter that cannot be read is full in `minute`, so that its budget has no room.
  static Result<Counted> read(const FactChange::Stored& stored, const std::string& key,
                              std::uint64_t minute) {
    SALLYPORT_TRY(const std::optional<std::string> text, stored(kCounters, key));
    Counted counted;
    if (!text || counted.take(*text)) return counted;
    counted.slots_ = {{minute, Amount{kFull, kFull, kFull}}};
    return counted;
  }

  // Minutes that lie an hour back no longer count.
  void forget_before(std::uint64_t minute) {
    if (minute < kMinutes) return;
    std::erase_if(slots_, [&](const auto& slot) { return slot.first + kMinutes <= minute; });
  }

  Amount total() const {
    Amount all;
    for (const auto& [minute, amount] : slots_) add(all, amount);
    return all;
  }

  Amount& at(std::uint64_t minute) { return slots_[minute]; }

  Fact fact(const std::string& key) const {
    json::object object;
    for (const auto& [minute, amount] : slots_) object[std::to_string(minute)] = to_json(amount);
    return {std::string(kCounters), key, canonical_json(object)};
  }

 private:
  bool take(const std::string& text) {
    const Result<json::value> value = parse_own_json(text);
    const json::object* const object = value ? value->if_object() : nullptr;
    if (object == nullptr) return false;
    for (const json::key_value_pair& slot : *object) {
      const std::string_view name = slot.key();
      std::uint64_t minute = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), minute);
      const json::object* const written = slot.value().if_object();
      const auto amount = written == nullptr ? std::nullopt : amount_in(*written);
      if (read.ec != std::errc{} || read.ptr != name.data() + name.size() || !amount) return false;
      slots_[minute] = *amount;
    }
    return true;
  }

  std::map<std::uint64_t, Amount> slots_;
};

// The limit of a budget that an amount exceeds; no value: there is room.
std::optional<std::string> over(const ModelBudget& budget, const Amount& amount) {
  const auto is_over = [](const std::optional<std::uint64_t>& limit, std::uint64_t value) {
    return limit && value > *limit;
  };
  if (is_over(budget.input_tokens, amount.input_tokens)) {
    return fmt::format("{} input tokens", *budget.input_tokens);
  }
  if (is_over(budget.output_tokens, amount.output_tokens)) {
    return fmt::format("{} output tokens", *budget.output_tokens);
  }
  if (is_over(budget.tokens, sum(amount.input_tokens, amount.output_tokens))) {
    return fmt::format("{} tokens", *budget.tokens);
  }
  if (is_over(budget.cost_microusd, amount.cost_microusd)) {
    return fmt::format("{:.2f} dollars", static_cast<double>(*budget.cost_microusd) / 1e6);
  }
  return std::nullopt;
}

std::string window_of(const ModelBudget& budget, const std::string& session_id, WallTime now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  switch (budget.per) {
    case ModelBudget::Per::Session:
      return session_id;
    case ModelBudget::Per::Day:
      return fmt::format("{:%Y-%m-%d}", fmt::gmtime(seconds));
    case ModelBudget::Per::Month:
      return fmt::format("{:%Y-%m}", fmt::gmtime(seconds));
    case ModelBudget::Per::Hour:
    case ModelBudget::Per::Request:
      break;
  }
  return {};
}

BudgetCounter counter_of(const ModelBudget& budget, const std::string& session_id, WallTime now) {
  BudgetCounter counter{.budget = budget};
  if (budget.per != ModelBudget::Per::Request) {
    counter.key = hex(sha256(canonical_json(json::array{
        budget.agent, budget.model, to_string(budget.per), window_of(budget, session_id, now)})));
  }
  if (budget.per == ModelBudget::Per::Hour) {
    counter.minute = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::minutes>(now.time_since_epoch()).count());
  }
  return counter;
}

// The used share of the nearest limit.
double used_of(const ModelBudget& budget, const Amount& amount) {
  double most = 0;
  const auto weigh = [&](const std::optional<std::uint64_t>& limit, std::uint64_t used) {
    if (!limit) return;
    const double share = *limit == 0 ? 1 : static_cast<double>(used) / static_cast<double>(*limit);
    most = std::max(most, share);
  };
  weigh(budget.input_tokens, amount.input_tokens);
  weigh(budget.output_tokens, amount.output_tokens);
  weigh(budget.tokens, sum(amount.input_tokens, amount.output_tokens));
  weigh(budget.cost_microusd, amount.cost_microusd);
  return most;
}

}  // namespace

const NamedPrice* price_of(const Settings& settings, const std::string& model) {
  for (const NamedPrice& price : settings.prices) {
    if (core::model_matches(price.first, model)) return &price;
  }
  return nullptr;
}

std::uint64_t cost_of(const Price& price, llm::Api api, const Usage& usage) {
  const double input = static_cast<double>(usage.input_tokens.value_or(0));
  const double output = static_cast<double>(usage.output_tokens.value_or(0));
  const double read = static_cast<double>(usage.cache_read_input_tokens.value_or(0));
  const double written = static_cast<double>(usage.cache_creation_input_tokens.value_or(0));
  // Anthropic counts cached tokens beside `input_tokens`, OpenAI inside it.
  const bool inside = api != llm::Api::AnthropicMessages;
  const double plain = inside ? std::max(0.0, input - read - written) : input;
  const double cost = plain * price.input + output * price.output + read * price.cache_read +
                      written * price.cache_write;
  return static_cast<std::uint64_t>(std::llround(std::min(cost, static_cast<double>(kFull))));
}

Budgets::Budgets(const core::ModelRules& rules, Spender spender, WallTime now) {
  for (const ModelBudget& budget : rules.budgets) {
    if (!core::model_matches(budget.agent, spender.agent_id) ||
        !core::model_matches(budget.model, spender.model)) {
      continue;
    }
    fitting_.push_back(counter_of(budget, spender.session_id, now));
  }
}

Result<std::vector<BudgetUse>> budget_uses(const core::ModelRules& rules,
                                           core::RecordReader& records, WallTime now) {
  std::vector<BudgetUse> uses;
  for (const ModelBudget& budget : rules.budgets) {
    const bool counts =
        budget.per != ModelBudget::Per::Request && budget.per != ModelBudget::Per::Session;
    if (!counts) continue;
    const BudgetCounter counter = counter_of(budget, {}, now);
    const auto stored = [&](std::string_view space, std::string_view key) {
      return records.fact(space, key);
    };
    SALLYPORT_TRY(Counted counted, Counted::read(stored, counter.key, counter.minute));
    counted.forget_before(counter.minute);
    const double ratio = used_of(budget, counted.total());
    const auto same = std::ranges::find_if(uses, [&](const BudgetUse& use) {
      return use.agent == budget.agent && use.model == budget.model &&
             use.per == to_string(budget.per);
    });
    if (same == uses.end()) {
      uses.push_back({budget.agent, budget.model, to_string(budget.per), ratio});
    } else {
      same->ratio = std::max(same->ratio, ratio);
    }
  }
  return uses;
}

bool Budgets::count_cost() const {
  return std::ranges::any_of(fitting_, [](const BudgetCounter& counter) {
    return counter.budget.cost_microusd.has_value();
  });
}

class Budgets::Reserve final : public FactChange {
 public:
  Reserve(std::vector<BudgetCounter> counters, std::string request_id, Amount estimate)
      : counters_(std::move(counters)), request_id_(std::move(request_id)), estimate_(estimate) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    std::vector<Fact> facts;
    json::array kept;
    std::set<std::string> counted_once;
    for (const BudgetCounter& counter : counters_) {
      Amount wanted = estimate_;
      if (!counter.key.empty()) {
        SALLYPORT_TRY(Counted counted, Counted::read(stored, counter.key, counter.minute));
        counted.forget_before(counter.minute);
        add(wanted, counted.total());
        // Two budgets over the same things share their counter.
        if (counted_once.insert(counter.key).second) {
          add(counted.at(counter.minute), estimate_);
          facts.push_back(counted.fact(counter.key));
          kept.push_back(json::object{{"key", counter.key}, {"minute", counter.minute}});
        }
      }
      if (const auto limit = over(counter.budget, wanted)) {
        return fail(ErrorCode::Exhausted,
                    fmt::format("the budget of {} per {} for agent `{}` has no room", *limit,
                                to_string(counter.budget.per), counter.budget.agent));
      }
    }
    facts.push_back({std::string(kReservations), request_id_,
                     canonical_json(json::object{{"counters", std::move(kept)},
                                                 {"amount", to_json(estimate_)}})});
    return facts;
  }

 private:
  std::vector<BudgetCounter> counters_;
  std::string request_id_;
  Amount estimate_;
};

class Budgets::Settle final : public FactChange {
 public:
  Settle(std::string request_id, Amount used) : request_id_(std::move(request_id)), used_(used) {}

  Result<std::vector<Fact>> facts(const Stored& stored) const override {
    SALLYPORT_TRY(const std::optional<std::string> text, stored(kReservations, request_id_));
    if (!text) return std::vector<Fact>();
    std::vector<Fact> facts{{std::string(kReservations), request_id_, std::nullopt}};
    // A reservation that cannot be read counts as used.
    const Result<json::value> value = parse_own_json(*text);
    const json::object* const object = value ? value->if_object() : nullptr;
    const json::value* const counters = object ? object->if_contains("counters") : nullptr;
    const json::object* const written = object ? object_in(*object, "amount") : nullptr;
    const auto amount = written == nullptr ? std::nullopt : amount_in(*written);
    if (counters == nullptr || !counters->is_array() || !amount) return facts;
    for (const json::value& counter : counters->get_array()) {
      const json::object* const kept = counter.if_object();
      if (kept == nullptr) continue;
      const std::string key = text_or_empty(*kept, "key");
      const std::uint64_t minute = number_in(*kept, "minute").value_or(0);
      SALLYPORT_TRY(Counted counted, Counted::read(stored, key, minute));
      Amount& slot = counted.at(minute);
      subtract(slot, *amount);
      add(slot, used_);
      facts.push_back(counted.fact(key));
    }
    return facts;
  }

 private:
  std::string request_id_;
  Amount used_;
};

std::shared_ptr<const FactChange> Budgets::reserve(std::string request_id, Amount estimate) const {
  return std::make_shared<const Reserve>(fitting_, std::move(request_id), estimate);
}

std::shared_ptr<const FactChange> Budgets::settle(std::string request_id, Amount used) {
  return std::make_shared<const Settle>(std::move(request_id), used);
}

}  // namespace sallyport::proxy
