#include "guardrails/view/view_list.h"

#include <algorithm>
#include <iterator>

namespace sallyport::guardrails {

namespace {

std::string joined(const std::vector<View>& views, char separator) {
  std::string all;
  for (const View view : views) {
    if (!all.empty()) all += separator;
    all += to_string(view);
  }
  return all;
}

// A sequence of decoders, and the indexes of its two views in the list.
struct Decoding {
  std::vector<View> steps;
  std::size_t plain;
  std::size_t normalised;
};

}  // namespace

bool is_normaliser(View view) {
  return view == View::Strip || view == View::Nfkc || view == View::Confusables;
}

std::vector<View> normalisers_of(std::span<const View> views) {
  std::vector<View> some;
  std::ranges::copy_if(views, std::back_inserter(some), is_normaliser);
  std::ranges::sort(some);
  return some;
}

std::vector<ViewSpec> views_of(std::span<const View> views, unsigned decode_depth) {
  std::vector<View> decoders;
  std::ranges::remove_copy_if(views, std::back_inserter(decoders), is_normaliser);
  std::ranges::sort(decoders);
  const std::string normalisers = joined(normalisers_of(views), '+');

  std::vector<ViewSpec> all = {{.name = "raw"}};
  if (!normalisers.empty()) all.push_back({.name = normalisers, .normalised = true});
  std::vector<Decoding> level = {{{}, 0, all.size() - 1}};
  for (unsigned depth = 1; depth <= decode_depth; ++depth) {
    std::vector<Decoding> next;
    for (const Decoding& above : level) {
      for (const View decoder : decoders) {
        Decoding made{above.steps, all.size(), all.size()};
        made.steps.push_back(decoder);
        const std::string name = joined(made.steps, '>');
        all.push_back({name, above.plain, decoder, false});
        if (!normalisers.empty()) {
          made.normalised = all.size();
          all.push_back({name + ">" + normalisers, above.normalised, decoder, true});
        }
        next.push_back(std::move(made));
      }
    }
    level = std::move(next);
  }
  return all;
}

}  // namespace sallyport::guardrails
