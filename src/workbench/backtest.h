// Decides recorded calls again under another policy, and says which verdicts change and which are
// unknown (WB-4, WB-5). It takes the calls in the order of the facts that decided them, so that the
// ledger is read once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/read/query.h"
#include "workbench/explaining.h"

namespace sallyport::app {

// The decision of one policy about one call.
struct Decided {
  CallVerdict verdict = CallVerdict::Refused;  // never `Undecided`
  std::string by{};                            // kind and name of what decides
  std::string reason{};                        // of a refusal
  json::value input{};                         // as guards rewrote it
  std::optional<TrialRelease> release{};       // no value: the result is not known, or nothing runs
};

enum class CallChange : std::uint8_t {
  Same,
  Loosened,   // the verdict is more open
  Tightened,  // less open
  Other,      // the same verdict, with a difference
};
std::string_view to_string(CallChange change);
CallChange change_between(const Decided& before, const Decided& after);

enum class CallDifference : std::uint8_t { None, Decider, Reason, Input, Released };
std::string_view to_string(CallDifference difference);  // empty: `None`
// The first difference.
CallDifference difference_between(const Decided& before, const Decided& after);

// Calls that changed in the same way.
struct ChangedCalls {
  CallChange change = CallChange::Other;
  CallVerdict before = CallVerdict::Refused;
  CallVerdict after = CallVerdict::Refused;
  std::string server{};
  std::string tool{};
  std::string effect_class{};
  std::string before_by{};
  std::string after_by{};
  CallDifference differs = CallDifference::None;  // of `Other`
  std::size_t calls = 0;
  std::set<std::string> sessions{};
  std::set<std::string> agents{};
  std::set<std::string> inputs{};  // digests
  std::string first{};             // ids of calls
  std::string last{};
  std::vector<std::string> examples{};
};

struct Backtest {
  std::size_t selected = 0;  // undecided + not reproduced + same + loosened + tightened + other
  std::size_t older = 0;     // matched too, and are beyond the limit
  std::set<std::string> sessions{};
  std::set<std::string> agents{};
  std::string since{};  // times of the first and the last record
  std::string until{};
  std::map<std::string, std::size_t> undecided{};       // by code
  std::map<std::string, std::size_t> not_reproduced{};  // by code
  std::map<CallChange, std::size_t> changes{};          // `Same` too
  std::size_t newly_refused = 0;                        // ran or asked before
  std::size_t results = 0;             // of calls that run before and after, judged again
  std::size_t results_not_kept = 0;    // of such calls, not judged: the record does not have them
  std::vector<ChangedCalls> groups{};  // loosened first, then by number of calls

  std::size_t undecided_calls() const;
  std::size_t lost_calls() const;  // not reproduced
};

struct BacktestTerms {
  NamedPolicy candidate{};
  std::optional<NamedPolicy> against{};  // none: the policy of then
  ledger::Filter filter{};               // of the calls
  std::size_t most = 10'000;             // the newest of them
  std::size_t examples = 3;              // of each group
};

// Every call is first decided under its own policy; a call whose record differs is left out. The
// scene must have a store.
Result<Backtest> backtest(const ExplainScene& scene, const BacktestTerms& terms);

// One object for each group and one summary, with the undecided before every verdict.
std::vector<json::object> backtest_json(const Backtest& test);
void print_backtest(const Backtest& test);

}  // namespace sallyport::app
