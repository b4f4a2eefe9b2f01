#include "guardrails/check/request_texts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace sallyport::guardrails {

namespace {

std::vector<ArgumentPath> paths_of(const std::vector<std::string>& args) {
  std::vector<ArgumentPath> paths;
  for (const std::string& text : args) {
    if (auto path = ArgumentPath::read(text)) paths.push_back(std::move(*path));
  }
  return paths;
}

bool any(const std::vector<bool>& wanted) {
  return std::ranges::find(wanted, true) != wanted.end();
}

}  // namespace

std::optional<std::size_t> RequestText::leaf() const {
  return list == nullptr ? std::nullopt : list->texts()[place].string_leaf;
}

std::optional<std::string> RequestText::path() const {
  return list == nullptr ? std::nullopt : list->path(list->texts()[place]);
}

RequestTexts::RequestTexts(const Compiled& compiled, const CheckSet& set, const Request& request,
                           std::vector<Coverage>& coverage) {
  std::vector<bool>& everything = wanted_.emplace_back(set.checks.size());
  std::map<std::vector<std::string>, std::vector<bool>> limited;
  for (std::size_t rule = 0; rule < set.checks.size(); ++rule) {
    const std::uint32_t index = set.checks[rule];
    if (coverage[index].skipped) continue;
    const std::vector<std::string>& args = compiled.document.checks[index].args;
    if (args.empty()) {
      everything[rule] = true;
    } else {
      limited.try_emplace(args, set.checks.size()).first->second[rule] = true;
    }
  }
  if (request.value == nullptr) {
    if (any(everything)) all_.push_back({.text = request.text, .wanted = &everything});
  } else if (any(everything)) {
    add_list(lists_.emplace_back(ArgumentTexts::of(*request.value)), everything);
  }
  for (auto& [args, wanted] : limited) {
    auto list =
        request.value == nullptr ? std::nullopt : ArgumentTexts::at(*request.value, paths_of(args));
    if (list) {
      add_list(lists_.emplace_back(std::move(*list)), wanted_.emplace_back(std::move(wanted)));
      continue;
    }
    for (std::size_t rule = 0; rule < wanted.size(); ++rule) {
      if (wanted[rule]) coverage[set.checks[rule]].skipped = "args";
    }
  }
  if (request.error_text && any(everything)) {
    all_.push_back(
        {.kind = RequestText::Kind::Error, .text = *request.error_text, .wanted = &everything});
  }
}

void RequestTexts::add_list(const ArgumentTexts& list, const std::vector<bool>& wanted) {
  for (std::size_t place = 0; place < list.texts().size(); ++place) {
    const ArgumentText& text = list.texts()[place];
    const auto kind = text.string_leaf ? RequestText::Kind::Leaf : RequestText::Kind::Fixed;
    all_.push_back({kind, text.text, &wanted, &list, place});
  }
}

}  // namespace sallyport::guardrails
