#include "cli/command.h"

namespace sallyport::app {

namespace {

// Commands register themselves before `main` begins, in any order.
std::vector<const Command*>& registered() {
  static std::vector<const Command*> commands;
  return commands;
}

}  // namespace

Command::Command(std::string path, std::string description, Result<int> (*run)(const Context&))
    : Command(std::move(path), std::move(description),
              Prepare([run](Syntax&) { return Run(run); })) {}

Command::Command(std::string path, std::string description, Prepare prepare)
    : path_(std::move(path)), description_(std::move(description)), prepare_(std::move(prepare)) {
  registered().push_back(this);
}

const std::vector<const Command*>& Command::all() {
  return registered();
}

}  // namespace sallyport::app
