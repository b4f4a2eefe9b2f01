#include "workbench/guard_config.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/entropy.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "config/yaml_json.h"
#include "guardrails/document/gallery.h"
#include "machine/pattern_files.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLargestDocument = 8u << 20;

using guardrails::Document;
using guardrails::DocumentError;

DocumentError unreadable(const Error& error) {
  // An error of the system names the file.
  const std::string file = error.cause == "io" ? "" : fmt::format("`{}`: ", error.where);
  return {.code = "io", .message = file + error.message};
}

std::expected<std::string, DocumentError> document_text(const std::string& config) {
  constexpr std::string_view kGallery = "gallery:";
  if (config.starts_with(kGallery)) {
    const guardrails::Preset* const preset = guardrails::preset(config.substr(kGallery.size()));
    if (preset != nullptr) return std::string(preset->document);
    return std::unexpected(
        DocumentError{.code = "io",
                      .message = fmt::format("there is no preset `{}`; `sallyport policy gallery` "
                                             "lists them",
                                             config.substr(kGallery.size()))});
  }
  Result<std::string> text = read_input(config, kLargestDocument + 1);
  if (text) return std::move(*text);
  return std::unexpected(unreadable(text.error()));
}

std::expected<Document, DocumentError> read_yaml(const std::string& text, const std::string& file) {
  if (text.size() > kLargestDocument) return guardrails::read_document(text);
  const auto refused = [](const Error& error) {
    return std::unexpected(DocumentError{
        .code = "syntax", .message = fmt::format("{}: {}", error.where, error.message)});
  };
  // YAML would allow one, but the rule is the same for YAML and JSON documents.
  if (text.starts_with("\xEF\xBB\xBF")) {
    return refused({.message = "a byte order mark before the document", .where = file});
  }
  const Result<config::YamlNode> root = config::parse_yaml(text, file);
  if (!root) return refused(root.error());
  const Result<json::value> value = config::to_json(*root, file);
  if (!value) return refused(value.error());
  return guardrails::read_document(*value);
}

// A dry run creates no data folder. An existing one has patterns that were compiled before.
auto compile_with_cache(const Context& context, Document document) {
  SystemEntropy entropy;
  std::optional<PatternFiles> patterns;
  std::error_code code;
  const Result<std::filesystem::path> data_dir = context.data_dir();
  if (data_dir && std::filesystem::is_directory(*data_dir, code)) {
    patterns.emplace(*data_dir / "cache", entropy);
  }
  return guardrails::Guardrails::compile(std::move(document), 1, patterns ? &*patterns : nullptr);
}

}  // namespace

Result<int> report_error(const Context& context, const DocumentError& error) {
  if (context.json()) {
    print_line(json::serialize(json::object{{"error", to_json(error)}}));
  }
  fmt::print(stderr, "sallyport: {}\n", visible(error.message));
  return error.code == "io" ? 64 : 1;
}

Result<GuardConfig> load_guardrails(const Context& context, const std::string& config) {
  const auto refused = [&](const DocumentError& error) -> Result<GuardConfig> {
    SALLYPORT_TRY(const int code, report_error(context, error));
    return GuardConfig{.exit_code = code};
  };
  const auto text = document_text(config);
  if (!text) return refused(text.error());
  const bool yaml = config.ends_with(".yaml") || config.ends_with(".yml");
  auto document = yaml ? read_yaml(*text, config) : guardrails::read_document(*text);
  if (!document) return refused(document.error());
  auto compiled = compile_with_cache(context, std::move(*document));
  if (!compiled) return refused(compiled.error());
  return GuardConfig{.guardrails = std::move(*compiled)};
}

Result<DryRunText> read_text(const Context& context, const std::optional<std::string>& file,
                             std::size_t most) {
  Result<std::string> text = read_input(file.value_or("-"), most + 1);
  if (!text) {
    SALLYPORT_TRY(const int code, report_error(context, unreadable(text.error())));
    return DryRunText{.exit_code = code};
  }
  if (text->size() > most) {
    SALLYPORT_TRY(
        const int code,
        report_error(context, {.code = "text_too_large",
                               .message = fmt::format("the text is over {} bytes", most)}));
    return DryRunText{.exit_code = code};
  }
  return DryRunText{.text = std::move(*text)};
}

}  // namespace sallyport::app
