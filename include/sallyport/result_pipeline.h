// A pipeline of result guards that a program runs itself, without a call and without a ledger
// (PI-1 to PI-17).
//
//   ResultPipeline pipeline;
//   pipeline.add("no-names", hide_names);
//   const PipelineOutcome outcome = pipeline.evaluate(Envelope::of("Ada pays"));
//   outcome.verdict;    // Verdict::Kind::Rewrite
//   outcome.released;   // what may be shown
//
// The guards of an engine (`EngineBuilder::result_guard`) are folded by the same code.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sallyport/engine.h"

namespace sallyport {

struct PipelineOutcome {
  struct Evidence {
    std::string guard{};
    bool passed = true;  // false: this guard blocked or failed
    std::string rule{};
    std::string details{};
  };

  Verdict::Kind verdict = Verdict::Kind::Allow;  // never `Ask`
  std::string guard{};                           // that blocked or failed
  std::string reason{};
  std::vector<std::string> escalations{};
  std::vector<Evidence> evidence{};
  Envelope released{};  // of a block: the notice that stands for the result
  json::object json{};  // as `post_invocation` of a record (PI-41)
};

// Guards run one after the other, in the order of `add`. `add` is for one thread, before the first
// `evaluate`; `evaluate` may be called from any thread.
class ResultPipeline {
 public:
  ResultPipeline();
  ~ResultPipeline();
  ResultPipeline(const ResultPipeline&) = delete;

  // `InvalidInput`: the name is empty or taken, or there is no function.
  Result<void> add(std::string name, EngineBuilder::ResultGuard judge, GuardOptions options = {});
  std::size_t size() const;

  // Without a context only the tool's name would be known, and here not even that (PI-20). A guard
  // that fails blocks, unless its options say `fail_open`.
  PipelineOutcome evaluate(Envelope result, ResultContext context = {}) const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
