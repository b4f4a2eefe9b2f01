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

EntryRole role_of(Effect effect, std::uint32_t rule, bool exception) {
  return {.holds = effect != Effect::Log && !exception, .exception = exception, .rule = rule};
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
  add_rule(rule.effect, rule.entries.size(), rule.exceptions.size());
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
  SALLYPORT_CHECK_OK(add_all(rule.entries, role_of(rule.effect, index, false), "entries"));
  return add_all(rule.exceptions, role_of(rule.effect, index, true), "exceptions");
}

void PatternSet::add_rule(Effect effect, std::size_t entries, std::size_t exceptions) {
  effects_.push_back(effect);
  first_of_rule_.push_back(static_cast<std::uint32_t>(roles_.size()));
  entries_.push_back(static_cast<std::uint32_t>(entries));
  exceptions_.push_back(static_cast<std::uint32_t>(exceptions));
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

void PatternSet::write(ImageWriter& out) const {
  out.number(effects_.size());
  auto report = report_.begin();
  for (std::size_t rule = 0; rule < effects_.size(); ++rule) {
    out.number(static_cast<unsigned>(effects_[rule]));
    out.number(exceptions_[rule]);
    out.number(entries_[rule]);
    for (std::uint32_t i = 0; i < entries_[rule]; ++i, ++report) {
      out.number(report->ascii_classes ? 1 : 0);
      out.number(report->longest ? *report->longest + 1 : 0);
    }
  }
  program_.write(out);
}

std::shared_ptr<const PatternSet> PatternSet::read(ImageReader& in, std::size_t room) {
  std::shared_ptr<PatternSet> set(new PatternSet(room));
  for (std::size_t left = in.count(3); left > 0 && in.good(); --left) set->read_rule(in);
  std::optional<Program> program = Program::read(in);
  if (!program || program->entries() != set->roles_.size()) return nullptr;
  set->program_ = std::move(*program);
  set->make_machines();
  return set;
}

void PatternSet::read_rule(ImageReader& in) {
  const auto rule = static_cast<std::uint32_t>(effects_.size());
  const auto effect = static_cast<Effect>(in.below(3));
  const std::size_t exceptions = in.count();
  const std::size_t entries = in.count(2);
  add_rule(effect, entries, exceptions);
  for (std::uint32_t place = 0; place < entries; ++place) {
    roles_.push_back(role_of(effect, rule, false));
    places_.push_back(place);
    const bool ascii_classes = in.below(2) == 1;
    const std::uint64_t longest = in.number();
    EntryReport& report = report_.emplace_back(rule, place, std::nullopt, ascii_classes);
    if (longest > 0) report.longest = longest - 1;
  }
  for (std::uint32_t place = 0; place < exceptions; ++place) {
    roles_.push_back(role_of(effect, rule, true));
    places_.push_back(place);
  }
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
