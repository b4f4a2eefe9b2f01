#include "match/pattern_set.h"

#include <fmt/format.h>

#include <utility>

#include "base/try.h"

namespace sallyport::match {

Machine::Machine(const Program& program, const std::vector<EntryRole>& roles,
                 std::vector<std::uint32_t> entries, Order order, std::size_t room)
    : program_(program), roles_(roles), entries_(std::move(entries)), order_(order), room_(room) {}

std::shared_ptr<const Automaton> Machine::make() const {
  return std::make_shared<const Automaton>(program_, roles_, entries_, order_, room_);
}

std::shared_ptr<const Automaton> Machine::automaton() const {
  return current_.with([&](auto& current) {
    if (!current) current = make();
    return current;
  });
}

std::shared_ptr<const Automaton> Machine::instead_of(const Automaton* full) const {
  return current_.with([&](auto& current) {
    if (current.get() == full) current = make();
    return current;
  });
}

namespace {

std::string place_of(std::size_t rule, const char* list, std::size_t place) {
  return fmt::format("/{}/{}/{}", rule, list, place);
}

Result<std::vector<std::shared_ptr<const Parsed>>> parse_all(std::span<const Expression> list,
                                                             std::size_t rule, const char* name) {
  std::vector<std::shared_ptr<const Parsed>> all;
  for (std::size_t place = 0; place < list.size(); ++place) {
    auto parsed = parse(list[place]);
    if (!parsed) {
      Error error = std::move(parsed).error();
      error.where = place_of(rule, name, place);
      return std::unexpected(std::move(error));
    }
    all.push_back(std::make_shared<const Parsed>(std::move(*parsed)));
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<const PatternSet>> PatternSet::compile(std::span<const Rule> rules,
                                                              std::size_t room) {
  std::vector<ParsedRule> parsed;
  for (const Rule& rule : rules) {
    const std::size_t index = parsed.size();
    SALLYPORT_TRY(auto entries, parse_all(rule.entries, index, "entries"));
    SALLYPORT_TRY(auto exceptions, parse_all(rule.exceptions, index, "exceptions"));
    parsed.push_back({rule.effect, std::move(entries), std::move(exceptions)});
  }
  return build(parsed, room);
}

Result<std::shared_ptr<const PatternSet>> PatternSet::build(std::span<const ParsedRule> rules,
                                                            std::size_t room) {
  std::shared_ptr<PatternSet> set(new PatternSet(room));
  for (const ParsedRule& rule : rules) SALLYPORT_CHECK_OK(set->add(rule));
  if (!set->program_.settle()) {
    return fail(ErrorCode::InvalidInput, "the patterns together are too large", {}, "too_large");
  }
  set->make_machines();
  return std::shared_ptr<const PatternSet>(std::move(set));
}

Result<void> PatternSet::add(const ParsedRule& rule) {
  const auto index = static_cast<std::uint32_t>(effects_.size());
  effects_.push_back(rule.effect);
  first_of_rule_.push_back(static_cast<std::uint32_t>(roles_.size()));
  has_exceptions_.push_back(!rule.exceptions.empty());
  const auto add_all = [&](const std::vector<std::shared_ptr<const Parsed>>& list,
                           const EntryRole& role, const char* name) -> Result<void> {
    for (std::uint32_t place = 0; place < list.size(); ++place) {
      auto added = add(*list[place], role, place);
      if (!added) {
        Error error = std::move(added).error();
        error.where = place_of(index, name, place);
        return std::unexpected(std::move(error));
      }
    }
    return {};
  };
  const bool holds = rule.effect != Effect::Log;
  SALLYPORT_CHECK_OK(add_all(rule.entries, {.holds = holds, .rule = index}, "entries"));
  return add_all(rule.exceptions, {.exception = true, .rule = index}, "exceptions");
}

Result<void> PatternSet::add(const Parsed& parsed, EntryRole role, std::uint32_t place) {
  if (!program_.add(parsed.tree)) {
    return fail(ErrorCode::InvalidInput, "the pattern is too large when compiled", {}, "too_large");
  }
  roles_.push_back(role);
  places_.push_back(place);
  if (!role.exception) {
    report_.push_back({role.rule, place, parsed.longest, parsed.ascii_classes});
  }
  return {};
}

void PatternSet::make_machines() {
  std::vector<std::uint32_t> any;
  std::vector<std::uint32_t> preferred;
  std::vector<std::uint32_t> everything;
  for (std::uint32_t index = 0; index < roles_.size(); ++index) {
    const bool redacts = effects_[roles_[index].rule] == Effect::Redact;
    (redacts && !roles_[index].exception ? preferred : any).push_back(index);
    everything.push_back(index);
  }
  const auto machine = [&](std::vector<std::uint32_t> entries, Order order) {
    return std::make_unique<Machine>(program_, roles_, std::move(entries), order, room_);
  };
  if (!preferred.empty()) redacting_too_ = machine(std::move(everything), Order::Any);
  any_ = machine(std::move(any), Order::Any);
  preferred_ = machine(std::move(preferred), Order::Preferred);
}

}  // namespace sallyport::match
