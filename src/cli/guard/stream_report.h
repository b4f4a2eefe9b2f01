// Prints the result of each delta of a stream, in words or as events (GR-63, GR-64), and keeps the
// sums.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/stream/gate.h"

namespace sallyport::app {

class StreamReport {
 public:
  // `channel`: which one of a message, where there are several.
  StreamReport(const guardrails::Guardrails& guardrails, bool as_json,
               std::optional<std::string> channel = std::nullopt)
      : guardrails_(guardrails), json_(as_json), channel_(std::move(channel)) {}

  void print(const guardrails::Passed& passed, std::size_t delta);

  bool blocked() const { return blocked_; }
  std::string_view verdict() const;
  json::object sums(std::uint64_t bytes_in, std::uint64_t held_max, std::uint64_t invalid) const;
  // Adds the members about the document, which every last event has.
  void add_document(json::object& end, const std::vector<guardrails::Coverage>& coverage) const;

 private:
  json::object event(const char* name, std::size_t delta) const;
  std::string begun(const char* name, std::size_t delta) const;
  void print_hit(const guardrails::Hit& hit, const char* name, std::size_t delta);
  void print_piece(const guardrails::Piece& piece, std::size_t delta);
  void add_checks(json::object& object, const guardrails::Piece& piece) const;

  const guardrails::Guardrails& guardrails_;
  bool json_;
  std::optional<std::string> channel_;
  bool blocked_ = false;
  std::uint64_t released_ = 0;
  std::uint64_t redacted_ = 0;
  std::uint64_t redactions_ = 0;
  std::uint64_t log_hits_ = 0;
};

}  // namespace sallyport::app
