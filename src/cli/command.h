// A command of the program. The file of a command holds its options, its syntax and what it does. Its
// last lines register it:
//
//   const Command kTail("ledger tail", "the newest entries", ledger_tail,
//                       [](Syntax& syntax, TailOptions& options) {
//                         syntax.flag("-f,--follow", options.follow, "wait for more");
//                       });
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/syntax.h"
#include "workspace/context.h"

namespace sallyport::app {

class Command {
 public:
  // The exit code: 0, or 1 for "no".
  using Run = std::function<Result<int>(const Context&)>;

  // `path` is what people type, as `ledger tail`.
  Command(std::string path, std::string description, Result<int> (*run)(const Context&));

  template <class Options>
  Command(std::string path, std::string description,
          Result<int> (*run)(const Context&, const Options&),
          std::type_identity_t<void (*)(Syntax&, Options&)> describe)
      : Command(
            std::move(path), std::move(description), Prepare([run, describe](Syntax& syntax) {
              const auto options = std::make_shared<Options>();
              describe(syntax, *options);
              return Run([options, run](const Context& context) { return run(context, *options); });
            })) {}

  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  const std::string& path() const { return path_; }
  const std::string& description() const { return description_; }

  // Describes the syntax to a parser. The result runs the command with what the parser read.
  Run prepare(Syntax& syntax) const { return prepare_(syntax); }

  // Every command, in no order.
  static const std::vector<const Command*>& all();

 private:
  using Prepare = std::function<Run(Syntax&)>;
  Command(std::string path, std::string description, Prepare prepare);

  std::string path_;
  std::string description_;
  Prepare prepare_;
};

}  // namespace sallyport::app
