// A pipeline of result guards that a program runs itself. It needs no call and no ledger (PI-1 to
// PI-17).
//
//   ResultPipeline pipeline;
//   pipeline.add("no-names", hide_names);
//   const PipelineOutcome outcome = pipeline.evaluate(Envelope::of("Ada pays"));
//   outcome.verdict;    // Verdict::Kind::Rewrite
//   outcome.released;   // what may be shown
//
// An engine runs its own result guards (`EngineBuilder::result_guard`) with the same code.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sallyport/engine.h"

namespace sallyport {

// A value. What the pipeline decided about one result.
struct PipelineOutcome {
  struct Evidence {
    std::string guard{};
    bool passed = true;  // false: this guard blocked or failed
    std::string rule{};
    std::string details{};
  };

  Verdict::Kind verdict = Verdict::Kind::Allow;  // never `Ask`
  std::string guard{};                           // the guard that blocked or failed
  std::string reason{};
  std::vector<std::string> escalations{};
  std::vector<Evidence> evidence{};
  Envelope released{};  // what may be shown; after a block, the notice in place of the result
  json::object json{};  // the shape of `post_invocation` in a record (PI-41)
};

// Runs guards one after the other, in the order of `add`. The program owns it. Call `add` on one
// thread, before the first `evaluate`. `evaluate` may be called from any thread.
class ResultPipeline {
 public:
  ResultPipeline();
  ~ResultPipeline();
  ResultPipeline(const ResultPipeline&) = delete;

  // `InvalidInput`: the name is empty or taken, or the function is empty.
  Result<void> add(std::string name, EngineBuilder::ResultGuard judge, GuardOptions options = {});
  std::size_t size() const;

  // Judges one result. Without a context the guards know nothing about the call (PI-20). A guard
  // that fails blocks the result, unless its options say `fail_open`.
  PipelineOutcome evaluate(Envelope result, ResultContext context = {}) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
