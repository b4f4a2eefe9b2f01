#include "sallyport/result_pipeline.h"

#include <fmt/format.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/json.hpp>
#include <thread>

#include "base/clock.h"
#include "core/plan/pipeline.h"
#include "embed/function_parts.h"
#include "embed/run_task.h"

namespace sallyport {

namespace {

Task<core::Release> folded(const core::Plan& plan, Envelope result, ResultContext context,
                           const Clock& clock, core::FailOpenLog& log) {
  core::FailOpen fail_open(log);
  co_return co_await core::run_pipeline(plan, std::move(result), std::move(context), clock,
                                        fail_open);
}

}  // namespace

struct ResultPipeline::Body {
  std::vector<std::string> names;
  core::PlanBuilder builder;
  std::shared_ptr<const core::Plan> plan = *core::PlanBuilder().build();
  SystemClock clock;
  mutable core::FailOpenLog fail_open{"pipeline"};
  boost::asio::io_context loop{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> working =
      boost::asio::make_work_guard(loop);
  boost::asio::thread_pool pool{2};  // for guards that wait
  std::thread folding{[this] { loop.run(); }};
};

ResultPipeline::ResultPipeline() : body_(std::make_unique<Body>()) {}

ResultPipeline::~ResultPipeline() {
  // Running functions return to the loop, so the loop ends last.
  body_->pool.join();
  body_->working.reset();
  body_->loop.stop();
  body_->folding.join();
}

Result<void> ResultPipeline::add(std::string name, EngineBuilder::ResultGuard judge,
                                 GuardOptions options) {
  if (name.empty() || std::ranges::find(body_->names, name) != body_->names.end()) {
    return fail(ErrorCode::InvalidInput, fmt::format("guard name `{}` is empty or taken", name),
                "name");
  }
  if (!judge) {
    return fail(ErrorCode::InvalidInput, fmt::format("guard `{}` has no function", name), "judge");
  }
  if (options.fail_open) body_->builder.fail_open(name);
  body_->builder.result_guard(
      embed::make_result_guard(name, std::move(judge), options, body_->pool));
  core::PlanBuilder copy = body_->builder;
  Result<std::shared_ptr<const core::Plan>> built = std::move(copy).build();
  if (!built) return std::unexpected(built.error());
  body_->names.push_back(std::move(name));
  body_->plan = std::move(*built);
  return {};
}

std::size_t ResultPipeline::size() const {
  return body_->names.size();
}

PipelineOutcome ResultPipeline::evaluate(Envelope result, ResultContext context) const {
  Result<core::Release> folding = embed::run_task(
      body_->loop,
      folded(*body_->plan, std::move(result), std::move(context), body_->clock, body_->fail_open));
  if (!folding) {
    return {.verdict = Verdict::Kind::Deny,
            .guard = "pipeline",
            .reason = "the pipeline failed",
            .released = Envelope::error("Result withheld by pipeline: the pipeline failed")};
  }
  core::Release& release = *folding;
  PipelineOutcome outcome{.verdict = release.verdict,
                          .guard = release.guard,
                          .reason = release.reason,
                          .released = release.released,
                          .json = release.to_json()};
  for (core::Escalation& escalation : release.escalations) {
    outcome.escalations.push_back(std::move(escalation.message));
  }
  for (core::Release::Evidence& one : release.evidence) {
    outcome.evidence.push_back(
        {std::move(one.guard), one.verdict, std::move(one.rule), std::move(one.details)});
  }
  return outcome;
}

}  // namespace sallyport
