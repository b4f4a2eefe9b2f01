#include "cli/syntax.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace sallyport::app {

namespace {

// An option that may be repeated takes one value each time. An argument takes all that remain.
void allow_several(CLI::Option& option) {
  if (option.get_positional()) return;
  option.take_all()->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// An empty name comes from a variable that is not set. It never means that the option is absent.
void check_file_name(std::string_view option, std::string_view value, std::string_view type) {
  if (!value.empty() || !option.starts_with('-')) return;
  const bool folder = type == "FOLDER" || type == "DIR";
  throw CLI::ValidationError(
      fmt::format("{} is empty; name a {}", option, folder ? "folder" : "file"));
}

}  // namespace

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::choices(std::vector<std::string> values) const {
  option_->type_name(fmt::format("{}", fmt::join(values, "|")));
  CLI::Validator known = CLI::IsMember(values);
  option_->check(known.description(""));  // the type says it
  notes_->choices[option_] = std::move(values);
  return *this;
}

Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::hidden() const {
  option_->group("");
  return *this;
}

Option Syntax::flag(const char* name, bool& out, const char* description) {
  return noted(command_.add_flag(name, out, description));
}

Option Syntax::number(const char* name, std::uint16_t& out, const char* description,
                      const char* type) {
  const auto read = [&out, option = std::string(name)](const std::string& value) {
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (code == std::errc() && end == value.data() + value.size()) return;
    throw CLI::ConversionError(option, std::vector<std::string>{value});
  };
  return noted(command_.add_option_function<std::string>(name, read, description)->type_name(type));
}

Option Syntax::text(const char* name, std::string& out, const char* description, const char* type) {
  return noted(command_.add_option(name, out, description)->type_name(type));
}

Option Syntax::text(const char* name, std::optional<std::string>& out, const char* description,
                    const char* type) {
  return noted(command_
                   .add_option_function<std::string>(
                       name, [&out](const std::string& value) { out = value; }, description)
                   ->type_name(type));
}

Option Syntax::texts(const char* name, std::vector<std::string>& out, const char* description,
                     const char* type) {
  CLI::Option* const option = command_.add_option(name, out, description)->type_name(type);
  allow_several(*option);
  return noted(option);
}

Option Syntax::file(const char* name, std::filesystem::path& out, const char* description) {
  return noted_file(command_
                        .add_option_function<std::string>(
                            name,
                            [&out, option = std::string(name)](const std::string& value) {
                              check_file_name(option, value, "FILE");
                              out = value;
                            },
                            description)
                        ->type_name("FILE")
                        ->required());
}

Option Syntax::file(const char* name, std::optional<std::filesystem::path>& out,
                    const char* description, const char* type) {
  return noted_file(command_
                        .add_option_function<std::string>(
                            name,
                            [&out, option = std::string(name),
                             kind = std::string(type)](const std::string& value) {
                              check_file_name(option, value, kind);
                              out = value;
                            },
                            description)
                        ->type_name(type));
}

Option Syntax::files(const char* name, std::vector<std::filesystem::path>& out,
                     const char* description) {
  CLI::Option* const option =
      command_
          .add_option_function<std::vector<std::string>>(
              name,
              [&out, option = std::string(name)](const std::vector<std::string>& values) {
                for (const std::string& value : values) {
                  check_file_name(option, value, "FILE");
                }
                out.assign(values.begin(), values.end());
              },
              description)
          ->type_name("FILE");
  allow_several(*option);
  return noted_file(option);
}

void Syntax::footer(const char* text) {
  command_.footer(text);
}

Option Syntax::noted_file(CLI::Option* option) {
  notes_.files.insert(option);
  return noted(option);
}

}  // namespace sallyport::app
