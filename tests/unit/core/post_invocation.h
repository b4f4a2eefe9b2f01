// A call whose result passes the second door, and its records.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "support/governed.h"

namespace sallyport::core {

class PostInvocation : public testing::Test {
 protected:
  void result_guard(std::string name, test::FunctionResultGuard::Judge judge) {
    governed.plan.result_guard(
        std::make_shared<test::FunctionResultGuard>(std::move(name), std::move(judge)));
  }
  void says(std::string name, Verdict verdict) {
    result_guard(std::move(name),
                 [verdict](const Envelope&, const ResultContext&) { return verdict; });
  }
  // Records everything that it sees.
  void watch() {
    result_guard("watch", [this](const Envelope& envelope, const ResultContext& context) {
      seen.push_back(canonical_json(envelope.to_json()));
      contexts.push_back(context);
      return Verdict::allow();
    });
  }
  void gives(Envelope envelope) {
    governed.upstream = std::make_shared<test::FakeUpstream>(
        [envelope](Call, std::stop_token) -> Task<Envelope> { co_return envelope; });
  }
  void does(test::FakeUpstream::Answer answer) {
    governed.upstream = std::make_shared<test::FakeUpstream>(std::move(answer));
  }

  Answer call(Caller caller = {}) {
    const Result<Answer> answer = governed.call(test::Governed::read_file(), std::move(caller));
    EXPECT_TRUE(answer);
    return answer ? *answer : Answer{};
  }
  Draft record() const { return governed.recorder.records().back(); }
  json::object post() const { return record().body.at("post_invocation").as_object(); }
  // Returns the bytes to which the record commits at `path`.
  std::string exact(std::string_view path) const {
    const Draft draft = record();
    for (const ExactContent& content : draft.exact) {
      if (content.path == path) return content.bytes.value_or(test::text_at(draft, path));
    }
    return "(absent)";
  }
  bool withheld(std::string_view path) const {
    for (const ExactContent& content : record().exact) {
      if (content.path == path) return content.withheld;
    }
    return false;
  }

  test::Governed governed;
  std::vector<std::string> seen;
  std::vector<ResultContext> contexts;
};

}  // namespace sallyport::core
