// What the parts of guardrails are called, for people. Codes and labels are never translated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "guardrails/document.h"

namespace sallyport::guardrails {

enum class Locale : std::uint8_t { English, Ukrainian };

// `uk`, `uk-UA`, `uk_UA.UTF-8`; every other one is English (GR-70).
Locale locale_named(std::string_view name);

struct Name {
  std::string_view name;
  std::string_view description;

  bool operator==(const Name&) const = default;
};

Name name_of(Stage stage, Locale locale);
Name name_of(CheckType type, Locale locale);
Name name_of(Action action, Locale locale);
// Of a reason code (GR-16); nothing for a code that is none of ours.
std::optional<Name> name_of_reason(std::string_view code, Locale locale);

}  // namespace sallyport::guardrails
