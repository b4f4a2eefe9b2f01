// Rules that are compiled together. Immutable; any number of threads may use them at once.
//
//   const Expression key{.text = "AKIA[A-Z0-9]{16}"};
//   const std::vector<Rule> rules = {{.effect = Effect::Block, .entries = {key}}};
//   auto set = PatternSet::compile(rules);
//   if (!set) return std::unexpected(set.error());  // where `/0/entries/0`, cause `look_around`
//   Stream stream(*set);
//
// Compiling takes microseconds for each pattern, because automata are made while texts are read.
// All streams of the set share them. Thousands of patterns can be stored as an image, which is read
// in a fraction of the time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "match/automaton.h"
#include "match/expression.h"
#include "sallyport/result.h"

namespace sallyport::match {

enum class Effect : std::uint8_t { Block, Redact, Log };

struct Rule {
  Effect effect = Effect::Block;
  std::vector<Expression> entries = {};
  // A match that is completely inside a match of one of these does not count.
  std::vector<Expression> exceptions = {};
};

// A rule with parsed expressions, so that several sets can share them.
struct ParsedRule {
  Effect effect = Effect::Block;
  std::vector<std::shared_ptr<const Parsed>> entries = {};
  std::vector<std::shared_ptr<const Parsed>> exceptions = {};

  bool operator==(const ParsedRule&) const = default;
};

struct EntryReport {
  std::uint32_t rule;
  std::uint32_t entry;
  std::optional<std::uint64_t> longest;  // bytes; no value: a match has no bound
  bool ascii_classes;                    // for a pattern
};

// One match: bytes [start, end) of the source.
struct Match {
  std::uint32_t rule = 0;
  std::uint32_t entry = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  bool operator==(const Match&) const = default;
};

// The automaton of one order. It is replaced by a new one when it has no room left. A stream keeps
// its automaton until it needs another, so each is freed with its last user.
class Machine {
 public:
  Machine(const Program& program, const std::vector<EntryRole>& roles,
          std::vector<std::uint32_t> entries, Order order, std::size_t room);

  bool empty() const { return entries_.empty(); }
  std::shared_ptr<const Automaton> automaton() const;
  std::shared_ptr<const Automaton> instead_of(const Automaton* full) const;

 private:
  std::shared_ptr<const Automaton> make() const;

  const Program& program_;
  const std::vector<EntryRole>& roles_;
  std::vector<std::uint32_t> entries_;
  Order order_;
  std::size_t room_;
  mutable Guarded<std::shared_ptr<const Automaton>> current_;
};

class PatternSet {
 public:
  // `InvalidInput`: `where` points at the expression, `cause` is one of those of `parse`.
  // `room` bounds the memory of an automaton in bytes; it changes no verdict.
  static Result<std::shared_ptr<const PatternSet>> compile(std::span<const Rule> rules,
                                                           std::size_t room = std::size_t{64}
                                                                              << 20);

  // `InvalidInput`: too large; `where` points at the expression if a single one is too large.
  static Result<std::shared_ptr<const PatternSet>> build(std::span<const ParsedRule> rules,
                                                         std::size_t room = std::size_t{64} << 20);

  // Writes and reads the set as bytes, without the states that texts made. Null: not an image.
  void write(ImageWriter& out) const;
  static std::shared_ptr<const PatternSet> read(ImageReader& in,
                                                std::size_t room = std::size_t{64} << 20);

  PatternSet(const PatternSet&) = delete;
  PatternSet& operator=(const PatternSet&) = delete;

  // Returns for each rule the match to report for a whole text (not a stream): of the first entry
  // with a match, the leftmost one that no exception covers, with the end that Perl prefers.
  // Matches are in the order of rules.
  std::vector<Match> find(std::string_view text) const;

  const std::vector<EntryReport>& report() const { return report_; }
  std::size_t rules() const { return effects_.size(); }
  Effect effect(std::uint32_t rule) const { return effects_[rule]; }
  bool has_exceptions(std::uint32_t rule) const { return exceptions_[rule] > 0; }
  std::uint32_t entries(std::uint32_t rule) const { return entries_[rule]; }

  // For trackers. An index runs over the entries and exceptions of all rules.
  const EntryRole& role(std::uint32_t index) const { return roles_[index]; }
  std::uint32_t index_of(std::uint32_t rule, std::uint32_t entry) const {
    return first_of_rule_[rule] + entry;
  }
  std::uint32_t place_in_rule(std::uint32_t index) const { return places_[index]; }
  const Program& program() const { return program_; }
  const std::vector<EntryRole>& roles() const { return roles_; }
  std::size_t room() const { return room_; }
  // The automaton of one entry in the order of preference, for the spans of whole texts.
  std::shared_ptr<const Automaton> preferring(std::uint32_t index) const;
  // Entries of block and log rules, and all exceptions.
  const Machine& any() const { return *any_; }
  // Entries of redact rules.
  const Machine& preferred() const { return *preferred_; }
  // All entries, for the search of whole texts.
  const Machine& everything() const { return redacting_too_ ? *redacting_too_ : *any_; }

 private:
  explicit PatternSet(std::size_t room) : room_(room) {}
  Result<void> add(const ParsedRule& rule);
  Result<void> add(const Parsed& parsed, EntryRole role, std::uint32_t place);
  void add_rule(Effect effect, std::size_t entries, std::size_t exceptions);
  void read_rule(ImageReader& in);
  void make_machines();

  std::size_t room_;
  Program program_;
  std::vector<EntryRole> roles_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> first_of_rule_;
  std::vector<Effect> effects_;
  std::vector<std::uint32_t> entries_;     // number of entries of a rule
  std::vector<std::uint32_t> exceptions_;  // number of exceptions of a rule
  std::vector<EntryReport> report_;
  std::unique_ptr<Machine> any_;
  std::unique_ptr<Machine> preferred_;
  std::unique_ptr<Machine> redacting_too_;  // set if it differs from `any_`
  // One machine for each entry, made when the entry first matches.
  mutable Guarded<std::map<std::uint32_t, std::unique_ptr<Machine>>> single_;
};

// The end that Perl prefers for a match in a whole text.
std::uint64_t preferred_end(const PatternSet& set, std::string_view text, const Match& match);

}  // namespace sallyport::match
