// Results of cases as people, programs and continuous integration read them (WB-25).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workbench/case_trial.h"

namespace sallyport::app {

struct CaseOutcome {
  std::string name{};
  std::string file{};
  int line = 1;
  int column = 1;
  std::string policy{};                // its name or file
  std::string problem{};               // the difference from the expectation; empty: passed
  std::optional<CaseAnswer> answer{};  // of a case about a whole call
  double seconds = 0;
};

json::object to_json(const CaseOutcome& outcome);

// `format`: text, json, junit or github.
void print_report(const std::vector<CaseOutcome>& outcomes, const std::string& format);

}  // namespace sallyport::app
