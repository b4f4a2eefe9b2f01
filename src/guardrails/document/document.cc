#include "guardrails/document/document.h"

#include <boost/json/object.hpp>

#include "guardrails/document/document_names.h"

namespace sallyport::guardrails {

namespace {

template <class E>
std::string_view spelt(E value) {
  for (const auto& [known, name] : spellings(value)) {
    if (known == value) return name;
  }
  return {};
}

json::value or_null(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

}  // namespace

std::string_view to_string(Stage stage) {
  return spelt(stage);
}
std::string_view to_string(CheckType type) {
  return spelt(type);
}
std::string_view to_string(Action action) {
  return spelt(action);
}
std::string_view to_string(Severity severity) {
  return spelt(severity);
}
std::string_view to_string(Mode mode) {
  return spelt(mode);
}
std::string_view to_string(View view) {
  return spelt(view);
}

std::optional<Stage> stage_named(std::string_view name) {
  for (const auto& [stage, known] : kStages) {
    if (known == name) return stage;
  }
  return std::nullopt;
}

json::object to_json(const DocumentError& error) {
  return {{"code", error.code},
          {"message", error.message},
          {"check", or_null(error.check)},
          {"check_index", error.check_index ? json::value(*error.check_index) : nullptr},
          {"path", or_null(error.path)},
          {"detail", or_null(error.detail)}};
}

}  // namespace sallyport::guardrails
