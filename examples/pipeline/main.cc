// A pipeline of result guards without a call: for results that reach a program another way.
#include <sallyport/result_pipeline.h>

#include <boost/json.hpp>
#include <iostream>
#include <string>

using namespace sallyport;

namespace {

Result<Verdict> hide_names(const Envelope& result, const ResultContext&) {
  if (!result.value.is_string()) return Verdict::allow();
  std::string text(result.value.as_string());
  const std::size_t at = text.find("Ada");
  if (at == std::string::npos) return Verdict::allow();
  text.replace(at, 3, "A.");
  return Verdict::rewrite(Envelope::of(json::value(text)).to_json(), "a name");
}

Result<Verdict> no_salaries(const Envelope& result, const ResultContext&) {
  if (!result.value.is_string()) return Verdict::allow();
  const std::string text(result.value.as_string());
  if (text.find("salary") == std::string::npos) return Verdict::allow();
  return Verdict::deny("salaries stay here", "salary");
}

}  // namespace

int main() {
  ResultPipeline pipeline;
  if (!pipeline.add("hide-names", hide_names) || !pipeline.add("no-salaries", no_salaries))
    return 1;
  std::cout << pipeline.size() << " guards\n";
  for (const char* const text : {"12 rows", "Ada pays", "the salary of Ada"}) {
    const PipelineOutcome outcome = pipeline.evaluate(Envelope::of(text));
    std::cout << outcome.json.at("verdict").as_string().c_str() << ": "
              << outcome.released.to_result().output << '\n';
  }
  return 0;
}
