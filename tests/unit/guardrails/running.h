// Documents that are compiled from JSON, and the observable results of a stream.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guardrails/check/guardrails.h"
#include "guardrails/document/document.h"
#include "guardrails/stream/gate.h"

namespace sallyport::guardrails {

inline std::shared_ptr<const Guardrails> compiled(std::string_view text) {
  const auto document = read_document(text);
  if (!document) {
    ADD_FAILURE() << document.error().message << " in " << text;
    return nullptr;
  }
  auto made = Guardrails::compile(*document);
  if (!made) {
    ADD_FAILURE() << made.error().message << " in " << text;
    return nullptr;
  }
  return *made;
}

// Returns `{"checks": [...]}` with these checks, each of them without its braces.
inline std::string document_of(const std::vector<std::string>& checks,
                               const std::string& more = "") {
  std::string text = "{" + more + "\"checks\":[";
  for (std::size_t i = 0; i < checks.size(); ++i) text += (i ? ",{" : "{") + checks[i] + "}";
  return text + "]}";
}

inline std::shared_ptr<const Guardrails> guard(const std::vector<std::string>& checks,
                                               const std::string& more = "") {
  return compiled(document_of(checks, more));
}

inline void PrintTo(const Hit& hit, std::ostream* out) {
  *out << json::value(to_json(hit));
}

// The observable results of a stream, except their times.
struct SeenOfStream {
  std::string text;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> regions;
  std::vector<std::vector<std::size_t>> region_checks;
  std::vector<Hit> logs;
  std::optional<Hit> block;
  std::uint64_t out = 0;  // source bytes that left, or were redacted
  std::uint64_t invalid_utf8 = 0;

  void add(const Passed& passed) {
    text += passed.text();
    for (const Piece& piece : passed.pieces) {
      EXPECT_EQ(piece.start, out);
      EXPECT_LT(piece.start, piece.end);
      out = piece.end;
      if (piece.checks.empty()) continue;
      regions.emplace_back(piece.start, piece.end);
      region_checks.push_back(piece.checks);
    }
    logs.insert(logs.end(), passed.logs.begin(), passed.logs.end());
    if (passed.block) block = passed.block;
  }
  bool operator==(const SeenOfStream&) const = default;
};

inline void PrintTo(const SeenOfStream& seen, std::ostream* out) {
  *out << testing::PrintToString(seen.text) << " regions " << testing::PrintToString(seen.regions)
       << " logs " << testing::PrintToString(seen.logs) << " block ";
  if (seen.block) PrintTo(*seen.block, out);
  *out << " out " << seen.out;
}

// Pushes the text cut at these places.
inline SeenOfStream stream(const Guardrails& guardrails, std::string_view text,
                           const std::vector<std::size_t>& cuts = {}, Stage stage = Stage::Output,
                           std::optional<std::string_view> tool = std::nullopt) {
  SeenOfStream seen;
  const auto gate = guardrails.arm(stage, tool);
  if (!gate) {
    seen.text = std::string(text);
    return seen;
  }
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    seen.add(*gate->push(text.substr(from, cut - from)));
    from = cut;
  }
  seen.add(*gate->push(text.substr(from)));
  seen.add(*gate->finish());
  seen.invalid_utf8 = gate->invalid_utf8();
  return seen;
}

inline std::vector<std::size_t> every_byte(std::string_view text) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < text.size(); ++i) cuts.push_back(i);
  return cuts;
}

}  // namespace sallyport::guardrails
