// Decides a call whose recorded input has holes, if the holes cannot change the verdict (WB-38).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workbench/call_trial.h"
#include "workbench/explanation.h"

namespace sallyport::app {

struct HoleAnswer {
  std::optional<Hole> missing{};  // the hole that may change the verdict; none: no hole can
  std::string why{};              // the reader of the hole
  // The words that fill the holes, and the marks that the record has in their place.
  std::map<std::string, std::string> words{};
};

// If no hole can change the verdict, each is filled with a word of the form that its detector
// finds: the decision about that input is the decision about the original. `digest`: that of the
// data folder, by which a value that the policy names is found again; null: there is none.
Result<HoleAnswer> fill_holes(CallTrial& trial, const std::vector<Hole>& holes,
                              const KeyedDigest* digest);

// True if the policy looks at more than the names of the call, whose input is not known.
Result<bool> needs_input(const CallTrial& trial);

// The text, or every text of the value, with marks in the place of the words.
void put_marks_back(std::string& text, const std::map<std::string, std::string>& words);
void put_marks_back(json::value& value, const std::map<std::string, std::string>& words);

}  // namespace sallyport::app
