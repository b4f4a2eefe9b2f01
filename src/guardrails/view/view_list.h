// The views of a check in the order in which they are searched, and their names.
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

// A view is made from its parent: by a decoder, then by normalisers if it is normalised.
struct ViewSpec {
  std::string name{};
  std::size_t parent = 0;
  std::optional<View> decoder{};
  bool normalised = false;

  bool operator==(const ViewSpec&) const = default;
};

bool is_normaliser(View view);
// The normalisers in a list of views, in the order in which they are applied.
std::vector<View> normalisers_of(std::span<const View> views);
// The first is the raw text (GR-40, GR-41).
std::vector<ViewSpec> views_of(std::span<const View> views, unsigned decode_depth);

}  // namespace sallyport::guardrails
