#include "guardrails/check/compiler.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "guardrails/check/compiled_image.h"
#include "guardrails/document/one_line.h"
#include "match/expression.h"

namespace sallyport::guardrails {

namespace {

using Parsed = std::shared_ptr<const match::Parsed>;

constexpr std::chrono::seconds kMostTime{120};

// Parses one expression after the other. Our own parser takes microseconds for each, and a pattern
// that would keep PCRE2 busy is refused by counting first. So checking the time between two
// expressions is enough.
class Compiler {
 public:
  explicit Compiler(Compiled& out) : out_(out) {}

  std::expected<void, DocumentError> run() {
    for (std::size_t i = 0; i < out_.document.checks.size(); ++i) {
      parsed_.emplace_back();
      if (out_.document.checks[i].type == CheckType::ToolPattern) continue;
      if (auto read = read_check(i); !read) return read;
    }
    for (std::size_t stage = 0; stage < out_.stages.size(); ++stage) {
      if (auto made = make_plan(static_cast<Stage>(stage)); !made) return made;
    }
    out_.keep(std::move(parsed_));
    return {};
  }

 private:
  std::expected<void, DocumentError> read_check(std::size_t index) {
    const Check& check = out_.document.checks[index];
    ParsedCheck& parsed = parsed_.back();
    const char* const own = check.type == CheckType::Regex ? "patterns" : "words";
    out_.report.patterns += check.entries.size();
    for (std::size_t i = 0; i < check.entries.size(); ++i) {
      auto read = read_entry(index, check.entries[i], own, i);
      if (!read) return std::unexpected(std::move(read).error());
      if (check.type == CheckType::Regex) report(check, check.entries[i], **read);
      parsed.entries.push_back(std::move(*read));
    }
    for (std::size_t i = 0; i < check.except.size(); ++i) {
      auto read = read_entry(index, check.except[i], "except", i);
      if (!read) return std::unexpected(std::move(read).error());
      parsed.exceptions.push_back(std::move(*read));
    }
    return {};
  }

  std::expected<Parsed, DocumentError> read_entry(std::size_t index, const std::string& text,
                                                  const char* list, std::size_t place) const {
    const Check& check = out_.document.checks[index];
    const auto refuse = [&](std::string code, const std::string& why) {
      DocumentError error{.code = std::move(code)};
      error.message = fmt::format("check '{}': {}", check.label, why);
      error.check = check.label;
      error.check_index = index;
      error.path = fmt::format("/checks/{}/{}/{}", index, list, place);
      return error;
    };
    if (std::chrono::steady_clock::now() - begun_ > kMostTime) {
      return std::unexpected(refuse(
          "compile_timeout", fmt::format("the document takes more than {} s to compile, use fewer "
                                         "or simpler patterns",
                                         kMostTime.count())));
    }
    auto parsed = match::parse(expression_of(check, text, std::string_view(list) == "except"));
    if (parsed) return std::make_shared<const match::Parsed>(std::move(*parsed));
    DocumentError error = refuse("invalid_regex", in_one_line(parsed.error().message));
    error.detail = parsed.error().cause;
    return std::unexpected(std::move(error));
  }

  void report(const Check& check, const std::string& entry, const match::Parsed& parsed) {
    const bool bounded = parsed.longest && *parsed.longest <= out_.document.max_hold_bytes;
    if (check.on_fail != Action::Log && !bounded) {
      out_.report.unbounded.push_back({check.label, entry});
    }
    if (parsed.ascii_classes) out_.report.ascii_classes.push_back({check.label, entry});
  }

  std::expected<void, DocumentError> make_plan(Stage stage) {
    std::vector<std::uint32_t> chosen = checks_of_texts(out_.document, stage);
    if (chosen.empty()) return {};
    auto set = CheckSet::make(out_.document, parsed_, std::move(chosen));
    if (!set) return std::unexpected(std::move(set).error());
    out_.stages[static_cast<std::size_t>(stage)] = std::move(*set);
    return {};
  }

  Compiled& out_;
  std::vector<ParsedCheck> parsed_{};  // one for each check
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace

std::expected<std::shared_ptr<const Compiled>, DocumentError> compile(Document document,
                                                                      std::uint64_t generation,
                                                                      const PatternStore* store) {
  // A document that was made in memory has no digest, so it is not cached.
  const bool kept = store != nullptr && !document.config_hash.empty() && !document.checks.empty();
  const std::string digest = kept ? image_digest(document) : std::string();
  if (const auto image = kept ? store->load(digest) : std::nullopt) {
    if (auto compiled = read_image(document, generation, *image)) return compiled;
  }
  auto compiled = std::make_shared<Compiled>();
  compiled->document = std::move(document);
  compiled->generation = generation;
  if (auto made = Compiler(*compiled).run(); !made) {
    return std::unexpected(std::move(made).error());
  }
  if (kept) store->keep(digest, image_of(*compiled));
  return compiled;
}

}  // namespace sallyport::guardrails
