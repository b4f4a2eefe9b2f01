// A dry run over a stream: what would leave at which delta (GR-63..GR-65).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <numeric>

#include "app/commands.h"
#include "app/guard_config.h"
#include "app/number_list.h"
#include "app/output.h"
#include "base/try.h"
#include "guardrails/gate.h"
#include "guardrails/open_gate.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestStream = 1u << 30;

using guardrails::Check;
using guardrails::Gate;
using guardrails::Guardrails;
using guardrails::Hit;
using guardrails::Passed;
using guardrails::Piece;
using guardrails::Stage;

// Where the text is cut.
class Cuts {
 public:
  static Result<Cuts> read(const GuardStreamOptions& options) {
    if (options.delta.has_value() == options.splits.has_value()) {
      return fail(ErrorCode::InvalidInput, "give either `--delta N` or `--splits N,N,..`");
    }
    Cuts cuts;
    SALLYPORT_TRY(cuts.sizes_, number_list(options.delta ? options.delta : options.splits,
                                           options.delta ? "--delta" : "--splits"));
    cuts.repeats_ = options.delta.has_value();
    if (cuts.repeats_ && (cuts.sizes_.size() != 1 || cuts.sizes_.front() == 0)) {
      return fail(ErrorCode::InvalidInput, "`--delta` is one number from 1 on");
    }
    return cuts;
  }

  Result<std::vector<std::string_view>> of(std::string_view text) const {
    std::vector<std::string_view> deltas;
    for (std::size_t i = 0; repeats_ ? !text.empty() : i < sizes_.size(); ++i) {
      std::size_t size = repeats_ ? std::min(sizes_.front(), text.size()) : sizes_[i];
      if (size > text.size()) {
        return fail(ErrorCode::InvalidInput, "`--splits` is longer than the text");
      }
      deltas.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    if (!text.empty()) deltas.push_back(text);
    return deltas;
  }

 private:
  std::vector<std::size_t> sizes_;
  bool repeats_ = false;
};

// Prints what came of each delta and keeps the sums.
class Report {
 public:
  Report(const Guardrails& guardrails, bool as_json) : guardrails_(guardrails), json_(as_json) {}

  bool blocked() const { return blocked_; }

  void tell(const Passed& passed, std::size_t delta) {
    for (const Hit& hit : passed.logs) {
      ++log_hits_;
      tell_hit(hit, "log", delta);
    }
    for (const Piece& piece : passed.pieces) tell_piece(piece, delta);
    if (passed.block) {
      blocked_ = true;
      tell_hit(*passed.block, "block", delta);
    }
  }

  void tell_end(const Gate& gate, std::size_t deltas, std::uint64_t held_max, bool armed,
                const std::vector<guardrails::Coverage>& covered) {
    const char* const verdict = blocked_ ? "block" : redactions_ > 0 ? "redact" : "allow";
    if (!json_) return say(fmt::format("verdict: {}", verdict));
    json::array coverage;
    for (const guardrails::Coverage& one : covered) coverage.push_back(guardrails::to_json(one));
    say(json::serialize(json::object{{"event", "end"},
                                     {"verdict", verdict},
                                     {"armed", armed},
                                     {"deltas", deltas},
                                     {"bytes_in", gate.bytes_in()},
                                     {"released_bytes", released_},
                                     {"redacted_bytes", redacted_},
                                     {"withheld_bytes", gate.bytes_in() - released_ - redacted_},
                                     {"redactions", redactions_},
                                     {"log_hits", log_hits_},
                                     {"held_max", held_max},
                                     {"invalid_utf8", gate.invalid_utf8()},
                                     {"coverage", std::move(coverage)},
                                     {"report", guardrails::to_json(guardrails_.report())},
                                     {"config_hash", guardrails_.document().config_hash},
                                     {"generation", guardrails_.generation()}}));
  }

 private:
  void tell_hit(const Hit& hit, const char* event, std::size_t delta) {
    if (!json_) {
      return say(fmt::format("[{}] {} {} ({}) at {}", delta, event, hit.check, hit.reason_code,
                             hit.at.value_or(0)));
    }
    json::object object{{"event", event}, {"delta", delta}};
    for (auto& [name, value] : guardrails::to_json(hit)) object[name] = value;
    say(json::serialize(object));
  }

  void tell_piece(const Piece& piece, std::size_t delta) {
    const bool plain = piece.checks.empty();
    (plain ? released_ : redacted_) += piece.end - piece.start;
    if (!plain) ++redactions_;
    if (!json_) {
      return say(fmt::format("[{}] {} {}..{} {}", delta, plain ? "release" : "redact", piece.start,
                             piece.end, json::serialize(json::value(piece.text))));
    }
    json::object object{{"event", plain ? "release" : "redact"},
                        {"delta", delta},
                        {"start", piece.start},
                        {"end", piece.end}};
    if (plain) {
      object["text"] = piece.text;
    } else {
      add_checks(object, piece);
    }
    say(json::serialize(object));
  }

  void add_checks(json::object& object, const Piece& piece) const {
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

  const Guardrails& guardrails_;
  bool json_;
  bool blocked_ = false;
  std::uint64_t released_ = 0;
  std::uint64_t redacted_ = 0;
  std::uint64_t redactions_ = 0;
  std::uint64_t log_hits_ = 0;
};

}  // namespace

Result<int> guard_stream(const Context& context, const GuardStreamOptions& options) {
  const auto stage = guardrails::stage_named(options.stage);
  if (options.tool && stage != Stage::ToolOutput) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("stage `{}` knows no tool; leave `--tool` out", options.stage));
  }
  SALLYPORT_TRY(const Cuts cuts, Cuts::read(options));
  SALLYPORT_TRY(const GuardConfig config, load_guardrails(context, options.config));
  if (!config.guardrails) return config.exit_code;
  SALLYPORT_TRY(const DryRunText given, read_text(context, options.text_file, kLargestStream));
  if (given.exit_code != 0) return given.exit_code;
  SALLYPORT_TRY(const std::vector<std::string_view> deltas, cuts.of(given.text));

  std::optional<std::string_view> tool;
  if (options.tool) tool = *options.tool;
  std::unique_ptr<Gate> gate = config.guardrails->arm(*stage, tool);
  const bool armed = gate != nullptr;
  if (!armed) gate = guardrails::open_gate();
  Report report(*config.guardrails, context.json());
  std::uint64_t held_max = 0;
  std::size_t pushed = 0;
  while (pushed < deltas.size() && !report.blocked()) {
    SALLYPORT_TRY(const Passed passed, gate->push(deltas[pushed]));
    report.tell(passed, pushed++);
    held_max = std::max(held_max, gate->held());
  }
  if (!report.blocked()) {
    SALLYPORT_TRY(const Passed passed, gate->finish());
    report.tell(passed, pushed);
  }
  report.tell_end(*gate, pushed, held_max, armed,
                  armed ? gate->coverage() : config.guardrails->coverage_of_stream(*stage, tool));
  return report.blocked() ? 1 : 0;
}

}  // namespace sallyport::app
