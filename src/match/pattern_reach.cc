#include "match/pattern_reach.h"

#include "match/program.h"

namespace sallyport::match {

namespace {

// The nodes that are reached without a character and without an assertion.
void add_closure(const Program& program, std::uint32_t from, std::vector<bool>& in) {
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (in[at]) continue;
    in[at] = true;
    const Node& node = program.nodes()[at];
    if (node.kind != Node::Kind::Split) continue;
    open.push_back(node.out);
    open.push_back(node.other);
  }
}

bool accepts(const Program& program, std::uint32_t from) {
  std::vector<bool> in(program.nodes().size());
  add_closure(program, from, in);
  for (std::uint32_t at = 0; at < in.size(); ++at) {
    if (in[at] && program.nodes()[at].kind == Node::Kind::Accept) return true;
  }
  return false;
}

// True if each character alone is a match.
bool takes_every_character(const Program& program) {
  std::vector<bool> in(program.nodes().size());
  add_closure(program, program.start_of(0), in);
  std::vector<bool> taken(program.classes().count());
  for (std::uint32_t at = 0; at < in.size(); ++at) {
    const Node& node = program.nodes()[at];
    if (!in[at] || node.kind != Node::Kind::Characters || !accepts(program, node.out)) continue;
    for (std::uint32_t each = 0; each < taken.size(); ++each) {
      if (program.classes().contains(node.set, each)) taken[each] = true;
    }
  }
  for (const bool each : taken) {
    if (!each) return false;
  }
  return !taken.empty();
}

}  // namespace

Reach reach_of(const Expression& expression) {
  const Result<Parsed> parsed = parse(expression);
  Program program;
  if (!parsed || !program.add(parsed->tree) || !program.settle()) return Reach::Some;
  bool viable = false;
  for (unsigned before = 0; before < kNeighbours; ++before) {
    viable = viable || program.viable(program.start_of(0), static_cast<Neighbour>(before));
  }
  if (!viable) return Reach::Nothing;
  return takes_every_character(program) ? Reach::Everything : Reach::Some;
}

}  // namespace sallyport::match
