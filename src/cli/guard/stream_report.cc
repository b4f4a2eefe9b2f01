#include "cli/guard/stream_report.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "terminal/output.h"

namespace sallyport::app {

using guardrails::Check;
using guardrails::Hit;
using guardrails::Piece;

void StreamReport::print(const guardrails::Passed& passed, std::size_t delta) {
  for (const Hit& hit : passed.logs) {
    ++log_hits_;
    print_hit(hit, "log", delta);
  }
  for (const Piece& piece : passed.pieces) print_piece(piece, delta);
  if (passed.block) {
    blocked_ = true;
    print_hit(*passed.block, "block", delta);
  }
}

std::string_view StreamReport::verdict() const {
  return blocked_ ? "block" : redactions_ > 0 ? "redact" : "allow";
}

json::object StreamReport::sums(std::uint64_t bytes_in, std::uint64_t held_max,
                                std::uint64_t invalid) const {
  return {{"bytes_in", bytes_in},        {"released_bytes", released_},
          {"redacted_bytes", redacted_}, {"withheld_bytes", bytes_in - released_ - redacted_},
          {"redactions", redactions_},   {"log_hits", log_hits_},
          {"held_max", held_max},        {"invalid_utf8", invalid}};
}

void StreamReport::add_document(json::object& end,
                                const std::vector<guardrails::Coverage>& covered) const {
  json::array coverage;
  for (const guardrails::Coverage& one : covered) coverage.push_back(guardrails::to_json(one));
  end["coverage"] = std::move(coverage);
  end["report"] = guardrails::to_json(guardrails_.report());
  end["config_hash"] = guardrails_.document().config_hash;
  end["generation"] = guardrails_.generation();
}

json::object StreamReport::event(const char* name, std::size_t delta) const {
  json::object object{{"event", name}, {"delta", delta}};
  if (channel_) object["channel"] = *channel_;
  return object;
}

std::string StreamReport::begun(const char* name, std::size_t delta) const {
  if (!channel_) return fmt::format("[{}] {}", delta, name);
  return fmt::format("[{}] {} {}", delta, *channel_, name);
}

void StreamReport::print_hit(const Hit& hit, const char* name, std::size_t delta) {
  if (!json_) {
    return print_line(fmt::format("{} {} ({}) at {}", begun(name, delta), hit.check,
                                  hit.reason_code, hit.at.value_or(0)));
  }
  json::object object = event(name, delta);
  for (auto& [member, value] : guardrails::to_json(hit)) object[member] = value;
  print_line(json::serialize(object));
}

void StreamReport::print_piece(const Piece& piece, std::size_t delta) {
  const bool plain = piece.checks.empty();
  const char* const name = plain ? "release" : "redact";
  (plain ? released_ : redacted_) += piece.end - piece.start;
  if (!plain) ++redactions_;
  if (!json_) {
    return print_line(fmt::format("{} {}..{} {}", begun(name, delta), piece.start, piece.end,
                                  json::serialize(json::value(piece.text))));
  }
  json::object object = event(name, delta);
  object["start"] = piece.start;
  object["end"] = piece.end;
  if (plain) {
    object["text"] = piece.text;
  } else {
    add_checks(object, piece);
  }
  print_line(json::serialize(object));
}

void StreamReport::add_checks(json::object& object, const Piece& piece) const {
  const std::vector<Check>& checks = guardrails_.document().checks;
  const Check& first = checks[piece.checks.front()];
  object["check_index"] = piece.checks.front();
  object["check"] = first.label;
  object["check_id"] = first.id ? json::value(*first.id) : json::value();
  object["rule_type"] = to_string(first.type);
  object["reason_code"] = guardrails::reason_code_of(first.type);
  object["severity"] = to_string(first.severity);
  object["replacement"] = piece.text;
  json::array labels;
  for (const std::size_t index : piece.checks) labels.push_back(json::value(checks[index].label));
  object["checks"] = std::move(labels);
}

}  // namespace sallyport::app
