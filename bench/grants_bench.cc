#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <functional>
#include <limits>
#include <numeric>

#include "base/bytes.h"
#include "base/try.h"
#include "bench/bench.h"
#include "grants/grant_guard.h"
#include "grants/issuing.h"

namespace sallyport::bench {

namespace {

// Nothing is revoked and nothing is spent, so that only the token is measured.
class NoFacts final : public core::RecordReader {
 public:
  Result<std::optional<std::string>> fact(std::string_view, std::string_view) override {
    return std::nullopt;
  }
  Result<std::vector<core::Fact>> facts(std::string_view) override {
    return std::vector<core::Fact>{};
  }
  Result<json::object> entry(std::uint64_t) override {
    return fail(ErrorCode::NotFound, "there is no entry");
  }
};

grants::Signer signer(std::uint8_t first) {
  grants::Signer::Seed seed;
  std::iota(seed.begin(), seed.end(), first);
  return grants::Signer::from_seed(seed);
}

// Attenuated `depth` times, each time with a longer prefix. Tokens with different `last` differ in
// the last step.
std::string token_of_depth(std::size_t depth, std::uint64_t now, unsigned last = 0) {
  const grants::Signer authority = signer(0);
  const grants::Signer holder = signer(32);
  grants::NewToken wanted{.id = "01966f4c-4000-7000-8000-000000000001",
                          .principal = "agent:a",
                          .subject_key = holder.key(),
                          .issued_at = now - 60,
                          .expires_at = now + 3600};
  std::string prefix = "/srv/app";
  std::string text;
  for (std::size_t step = 0; step <= depth; ++step) {
    json::object grant{
        {"server", "fs"},
        {"tool", "write_file"},
        {"operations", json::array{"invoke", "read_result", "delegate"}},
        {"constraints", json::array{json::object{{"type", "path_prefix"}, {"value", prefix}}}}};
    if (step > 0) grant["from"] = 0;
    wanted.grants = {std::move(grant)};
    if (step == depth) wanted.id = fmt::format("01966f4c-4000-7000-8000-{:012}", 2 + last);
    const Result<grants::IssuedToken> issued =
        step == 0 ? grants::issue(wanted, authority) : grants::attenuate(text, wanted, holder);
    SALLYPORT_INVARIANT(issued.has_value());
    text = issued->text;
    prefix += "/deeper";
  }
  return text;
}

// Returns the microseconds per turn in the fastest of twenty stretches. Other programs can make a
// stretch longer, never shorter.
double fastest_us(int turns, const std::function<void()>& turn) {
  constexpr int kStretch = 20;
  double fastest = std::numeric_limits<double>::max();
  for (int begun = 0; begun < turns; begun += kStretch) {
    fastest = std::min(fastest, seconds_of([&] {
                         for (int i = 0; i < kStretch; ++i) turn();
                       }));
  }
  return fastest / kStretch * 1e6;
}

// Returns the microseconds of one guard decision about a token; the tokens take turns.
double decision_time(const std::vector<std::string>& tokens, std::size_t cached_tokens, int turns) {
  NoFacts facts;
  const SystemClock clock;
  const grants::GrantGuard guard({.trusted_issuers = {signer(0).key()},
                                  .required = {{"*", "*"}},
                                  .cached_tokens = cached_tokens},
                                 facts, clock);
  std::vector<Call> calls;
  for (const std::string& token : tokens) {
    calls.push_back({.agent_id = "agent:a",
                     .server = "fs",
                     .tool = "write_file",
                     .input = {{"path", "/srv/app/deeper/deeper/deeper/x"}, {"content", "text"}},
                     .grants = {token}});
  }
  std::size_t next = 0;
  const core::GuardContext context;
  boost::asio::io_context loop;
  const auto decide = [&] {
    loop.restart();
    boost::asio::co_spawn(loop, guard.judge(calls[next++ % calls.size()], context),
                          [](const std::exception_ptr&, const Result<Verdict>& verdict) {
                            SALLYPORT_INVARIANT(verdict && verdict->kind == Verdict::Kind::Allow);
                          });
    loop.run();
  };
  decide();
  return fastest_us(turns, decide);
}

}  // namespace

void measure_grants(Report& report, bool quick) {
  report.section("grants: one decision about a call (form to budget, one path constraint)");
  const int turns = quick ? 20 : 2000;
  const auto now = static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::seconds>(SystemClock().wall()).time_since_epoch().count());
  const std::string root = token_of_depth(0, now);
  const Result<grants::TokenChain> chain = grants::read_token(root);
  SALLYPORT_INVARIANT(chain.has_value());
  const double signature =
      fastest_us(turns, [&] { SALLYPORT_INVARIANT(grants::signed_by_issuer(chain->leaf())); });
  report.row("one signature", fmt::format("{:.1f} us", signature));
  for (const std::size_t depth : {0, 3}) {
    const std::string token = token_of_depth(depth, now);
    const double first = decision_time({token}, 0, turns);
    report.row(fmt::format("handed on {} times, seen for the first time", depth),
               fmt::format("{:.1f} us", first),
               fmt::format("{:.2f} of its {} signatures{}",
                           first / signature / static_cast<double>(depth + 1), depth + 1,
                           depth == 0 ? " (goal: under 200 us)" : ""));
    report.row(fmt::format("handed on {} times, seen before", depth),
               fmt::format("{:.1f} us", decision_time({token}, 16, turns)));
  }
  // More tokens than the cache holds, so that each is new again in its turn.
  std::vector<std::string> siblings;
  for (unsigned last = 0; last < 200; ++last) siblings.push_back(token_of_depth(3, now, last));
  report.row("handed on 3 times, only the last step is new",
             fmt::format("{:.1f} us", decision_time(siblings, 16, turns)), "(goal: under 100 us)");
}

}  // namespace sallyport::bench
