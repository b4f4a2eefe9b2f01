#include "daemon/api/backtest_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "ledger/read/look_at.h"
#include "records/prefix_view.h"

namespace sallyport::app {

namespace {

// The log as it was when the test began, for readers alone. It stops reading when the test stops.
class StoppableLog final : public ledger::LedgerStore {
 public:
  StoppableLog(ledger::LedgerStore& store, std::uint64_t size, std::function<bool()> wanted)
      : store_(store), size_(size), wanted_(std::move(wanted)) {}

  Result<void> write(const Work&, Manner) override {
    return fail(ErrorCode::Internal, "a backtest writes nothing");
  }
  Result<void> read(const Look& look) override {
    if (!wanted_()) return fail(ErrorCode::Cancelled, "the backtest was stopped");
    return store_.read([&](ledger::ReadView& view) -> Result<void> {
      PrefixView cut(view, size_, wanted_);
      return look(cut);
    });
  }
  Result<bool> changed_elsewhere() override { return false; }
  void check_seals_with(std::shared_ptr<const KeyedDigest>) override {}
  Result<void> scrub(std::chrono::milliseconds) override {
    return fail(ErrorCode::Internal, "a backtest writes nothing");
  }
  Result<void> check_files() override { return {}; }
  bool is_newer() const override { return store_.is_newer(); }
  std::string name() const override { return store_.name(); }

 private:
  ledger::LedgerStore& store_;
  std::uint64_t size_;
  std::function<bool()> wanted_;
};

}  // namespace

BacktestDesk::~BacktestDesk() {
  std::jthread thread = state_.with([](State& state) {
    for (const Test& test : state.tests) test.stopped->store(true);
    return std::move(state.thread);
  });
}

json::object BacktestDesk::Test::to_json() const {
  return {{"id", id},
          {"who", who},
          {"policy", policy},
          {"started_at", started_at},
          {"state", state},
          {"why", why.empty() ? json::value() : json::value(why)},
          {"read", read->load()}};
}

Result<std::string> BacktestDesk::start(const std::string& who, BacktestTerms terms) {
  return state_.with([&](State& state) -> Result<std::string> {
    const bool busy =
        std::ranges::any_of(state.tests, [](const Test& test) { return test.state == "running"; });
    if (busy) {
      return fail(ErrorCode::Conflict, "a backtest runs already; stop it or wait for it", {},
                  "backtest_runs");
    }
    if (state.thread.joinable()) state.thread.join();  // it has finished
    if (state.tests.size() >= kMostKept) state.tests.erase(state.tests.begin());
    Test& test = state.tests.emplace_back();
    test.id = fmt::format("b{}", state.next++);
    test.who = who;
    test.policy = terms.candidate.name;
    test.started_at = rfc3339(clock_.wall());
    const Test begun = test;
    state.thread = std::jthread(
        [this, begun, terms = std::move(terms)]() mutable { run(begun, std::move(terms)); });
    return begun.id;
  });
}

void BacktestDesk::run(Test test, BacktestTerms terms) {
  const SteadyTime end = clock_.steady() + kLongest;
  const auto wanted = [this, end, stopped = test.stopped, read = test.read] {
    ++*read;
    return !stopped->load() && clock_.steady() < end;
  };
  const auto tried = [&]() -> Result<Backtest> {
    SALLYPORT_TRY(const std::uint64_t size,
                  ledger::look_at(*scene_.store, &ledger::ReadView::size));
    StoppableLog log(*scene_.store, size, wanted);
    ExplainScene scene = scene_;
    scene.store = &log;
    return backtest(scene, terms);
  };
  const Result<Backtest> tested = tried();
  if (tested) {
    std::vector<json::object> rows = backtest_json(*tested);
    test.summary = rows.back().at("summary").as_object();
    rows.pop_back();
    for (json::object& group : rows) test.groups.emplace_back(std::move(group));
    test.state = "done";
  } else if (test.stopped->load()) {
    test.state = "stopped";
  } else {
    test.state = "failed";
    test.why = tested.error().code == ErrorCode::Cancelled
                   ? "it took longer than ten minutes; ask for fewer calls"
                   : tested.error().message;
  }
  finish(test);
}

void BacktestDesk::finish(const Test& test) {
  state_.with([&](State& state) {
    for (Test& one : state.tests) {
      if (one.id == test.id) one = test;
    }
  });
}

bool BacktestDesk::drop(const std::string& id) {
  return state_.with([&](State& state) {
    const auto found = std::ranges::find(state.tests, id, &Test::id);
    if (found == state.tests.end()) return false;
    if (found->state == "running") {
      found->stopped->store(true);  // its thread sets the state when it has stopped
    } else {
      state.tests.erase(found);
    }
    return true;
  });
}

json::array BacktestDesk::list() const {
  return state_.with([](const State& state) {
    json::array all;
    for (auto it = state.tests.rbegin(); it != state.tests.rend(); ++it) {
      all.push_back(it->to_json());
    }
    return all;
  });
}

std::optional<json::object> BacktestDesk::show(const std::string& id) const {
  return state_.with([&](const State& state) -> std::optional<json::object> {
    const auto found = std::ranges::find(state.tests, id, &Test::id);
    if (found == state.tests.end()) return std::nullopt;
    json::object body = found->to_json();
    body["summary"] = found->state == "done" ? json::value(found->summary) : json::value();
    body["groups"] = found->groups;
    return body;
  });
}

}  // namespace sallyport::app
