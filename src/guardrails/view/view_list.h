// The views of a check in the order in which they are looked at, and what they are called.
//
//   views_of({View::Nfkc, View::Base64}, 1);  // raw, nfkc, base64, base64>nfkc
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guardrails/document/document.h"

namespace sallyport::guardrails {

// A view is made from another one: by a decoder, then, if it is a normalised one, by normalisers.
struct ViewSpec {
  std::string name{};
  std::size_t parent = 0;
  std::optional<View> decoder{};
  bool normalised = false;

  bool operator==(const ViewSpec&) const = default;
};

bool is_normaliser(View view);
// Those of a list of views, in the order in which they are applied.
std::vector<View> normalisers_of(std::span<const View> views);
// The first is the raw text (GR-40, GR-41).
std::vector<ViewSpec> views_of(std::span<const View> views, unsigned decode_depth);

}  // namespace sallyport::guardrails
