// The hits of the default detectors in a text, in a readable form for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "guards/detect/detectors.h"

namespace sallyport::guards {

inline std::shared_ptr<const Detectors> build(const DetectorSet& wanted) {
  auto detectors = Detectors::build(wanted);
  EXPECT_TRUE(detectors.has_value()) << detectors.error().message;
  return *detectors;
}

// Compiling the patterns takes a tenth of a second, so one set serves all tests.
inline const Detectors& detectors() {
  static const auto shared = build(default_detectors());
  return *shared;
}

// `detector|matched bytes` of every hit, in order.
inline std::vector<std::string> describe(std::string_view text, const std::vector<Hit>& hits) {
  std::vector<std::string> out;
  for (const Hit& hit : hits) {
    out.push_back(std::string(name_of(hit.detector)) + "|" +
                  std::string(text.substr(hit.begin, hit.size())));
  }
  return out;
}

inline std::vector<std::string> found(std::string_view text) {
  return describe(text, detectors().scan(text));
}

inline auto only(const std::string& detector, const std::string& bytes) {
  return testing::ElementsAre(detector + "|" + bytes);
}

inline std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += piece;
  return text;
}

inline const std::string kAwsId = "AKIAIOSFODNN7EXAMPLE";
inline const std::string kGithub = "ghp_" + std::string(35, 'a') + "1";
inline const std::string kModelKey = "sk-" + std::string(19, 'b') + "2";
inline const std::string kJwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";

}  // namespace sallyport::guards
