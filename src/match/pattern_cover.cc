#include "match/pattern_cover.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "match/program.h"

namespace sallyport::match {

namespace {

using NodeSet = std::vector<std::uint32_t>;  // sorted, each once

// Runs both sides over all texts at once. Each state represents all texts that lead to it.
class CoverSearch {
 public:
  Cover run(const Expression& narrow, const std::vector<Expression>& wide, std::size_t most) {
    if (!compile(narrow, wide)) return Cover::NotDecided;
    measure();
    take({.before = Neighbour::Edge});
    while (!open_.empty()) {
      if (seen_.size() > most) return Cover::NotDecided;
      const auto nearest = open_.begin();
      const State state = std::move(nearest->second.front());
      nearest->second.pop_front();
      if (nearest->second.empty()) open_.erase(nearest);
      Reach reach;
      if (!state.continues && parts_at_end(state, reach)) return Cover::No;
      for (std::uint32_t each = 0; each < program_.classes().count(); ++each) {
        if (step_parts(state, reach, each)) return Cover::No;
      }
    }
    return Cover::Yes;
  }

 private:
  struct State {
    Neighbour before = Neighbour::Edge;
    bool continues = false;  // the text does not end here
    bool found = false;      // by the narrow side; the wide side has found nothing
    NodeSet narrow{};
    NodeSet wide{};

    auto operator<=>(const State&) const = default;
  };
  // The character after a place.
  struct Behind {
    Neighbour after = Neighbour::Edge;
    bool last = false;  // a newline that ends the text
  };
  struct Closed {
    bool accepts = false;
    NodeSet characters{};
  };
  // The reach of one state, by the kind of the next character.
  struct Reach {
    std::array<std::optional<Closed>, 2 * kNeighbours> narrow{};
    std::array<std::optional<Closed>, 2 * kNeighbours> wide{};
  };

  bool compile(const Expression& narrow, const std::vector<Expression>& wide) {
    const auto add = [&](const Expression& expression) {
      const Result<Parsed> parsed = parse(expression);
      return parsed && program_.add(parsed->tree);
    };
    if (!add(narrow)) return false;
    for (const Expression& each : wide) {
      if (!add(each)) return false;
    }
    return program_.settle();
  }

  // Computes the distance in characters of each node to a match.
  void measure() {
    constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max() / 2;
    away_.assign(program_.nodes().size(), kFar);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < away_.size(); ++i) {
        const Node& at = program_.nodes()[i];
        std::uint32_t away = at.kind == Node::Kind::Accept ? 0 : away_[at.out];
        if (at.kind == Node::Kind::Characters) ++away;
        if (at.kind == Node::Kind::Split) away = std::min(away, away_[at.other]);
        if (away >= away_[i]) continue;
        away_[i] = away;
        changed = true;
      }
    }
  }

  std::uint32_t away(const State& state) const {
    if (state.found) return 0;
    std::uint32_t least = away_[program_.start_of(0)];
    for (const std::uint32_t node : state.narrow) least = std::min(least, away_[node]);
    return least;
  }

  static bool holds(Assertion assertion, Neighbour before, Behind behind) {
    const Answer answer = decide(assertion, before, behind.after);
    return answer == Answer::Yes || (answer == Answer::IfFinal && behind.last);
  }

  // The nodes that are reached without a character. A match may begin at every place.
  Closed closed(const NodeSet& nodes, std::uint32_t first, std::uint32_t end, Neighbour before,
                Behind behind) {
    std::vector<std::uint32_t> open = nodes;
    for (std::uint32_t entry = first; entry < end; ++entry) {
      open.push_back(program_.start_of(entry));
    }
    Closed out;
    marks_.resize(program_.nodes().size());
    ++mark_;
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (std::exchange(marks_[next], mark_) == mark_) continue;
      const Node& at = program_.nodes()[next];
      if (at.kind == Node::Kind::Accept) out.accepts = true;
      if (at.kind == Node::Kind::Characters) out.characters.push_back(next);
      if (at.kind == Node::Kind::Split) open.push_back(at.other);
      const bool passes = at.kind == Node::Kind::Split ||
                          (at.kind == Node::Kind::Assert && holds(at.assertion, before, behind));
      if (passes) open.push_back(at.out);
    }
    std::ranges::sort(out.characters);
    return out;
  }
  static std::size_t place_of(Behind behind) {
    return 2 * static_cast<std::size_t>(behind.after) + (behind.last ? 1 : 0);
  }
  const Closed& narrow_at(const State& state, Reach& reach, Behind behind) {
    std::optional<Closed>& known = reach.narrow[place_of(behind)];
    if (!known) known = closed(state.narrow, 0, 1, state.before, behind);
    return *known;
  }
  const Closed& wide_at(const State& state, Reach& reach, Behind behind) {
    std::optional<Closed>& known = reach.wide[place_of(behind)];
    const auto entries = static_cast<std::uint32_t>(program_.entries());
    if (!known) known = closed(state.wide, 1, entries, state.before, behind);
    return *known;
  }

  // True if, when the text ends here, only the narrow side has a match.
  bool parts_at_end(const State& state, Reach& reach) {
    const bool found = state.found || narrow_at(state, reach, {}).accepts;
    return found && !wide_at(state, reach, {}).accepts;
  }

  NodeSet behind_character(const NodeSet& nodes, std::uint32_t its_class) const {
    NodeSet next;
    for (const std::uint32_t node : nodes) {
      const Node& at = program_.nodes()[node];
      if (program_.classes().contains(at.set, its_class)) next.push_back(at.out);
    }
    std::ranges::sort(next);
    const auto again = std::ranges::unique(next);
    next.erase(again.begin(), again.end());
    return next;
  }

  // No value: the wide side has a match, and so it has in every longer text.
  std::optional<State> stepped(const State& state, Reach& reach, std::uint32_t its_class,
                               bool last) {
    const Behind behind{program_.classes().neighbour(its_class), last};
    const Closed& wide = wide_at(state, reach, behind);
    if (wide.accepts) return std::nullopt;
    State next{.before = behind.after, .found = state.found};
    if (!state.found) {
      const Closed& narrow = narrow_at(state, reach, behind);
      next.found = narrow.accepts;
      if (!next.found) next.narrow = behind_character(narrow.characters, its_class);
    }
    next.wide = behind_character(wide.characters, its_class);
    return next;
  }

  bool step_parts(const State& state, Reach& reach, std::uint32_t its_class) {
    const bool newline = program_.classes().neighbour(its_class) == Neighbour::Newline;
    if (newline) {
      const std::optional<State> last = stepped(state, reach, its_class, true);
      Reach behind_last;
      if (last && parts_at_end(*last, behind_last)) return true;
    }
    std::optional<State> next = stepped(state, reach, its_class, false);
    if (!next) return false;
    next->continues = newline;
    take(std::move(*next));
    return false;
  }

  void take(State state) {
    const auto [place, fresh] = seen_.insert(std::move(state));
    if (fresh) open_[away(*place)].push_back(*place);
  }

  Program program_;
  std::vector<std::uint64_t> marks_;  // by node: the last search that reached it
  std::uint64_t mark_ = 0;
  std::vector<std::uint32_t> away_;  // by node
  std::set<State> seen_;
  // By the distance of the narrow side to a match, so that a difference is found soon.
  std::map<std::uint32_t, std::deque<State>> open_;
};

}  // namespace

Cover covered_by(const Expression& narrow, const std::vector<Expression>& wide,
                 std::size_t most_states) {
  if (wide.empty()) return Cover::No;
  return CoverSearch().run(narrow, wide, most_states);
}

}  // namespace sallyport::match
