// The person who is asked in the demo: the user at the terminal, or the script if there is none.
#pragma once

#include <functional>
#include <string>

#include "core/plan/approver.h"

namespace sallyport::app {

class DemoPerson final : public core::Approver {
 public:
  enum class Who {
    User,    // is at the terminal, and has ten seconds; silence is refusal
    Script,  // answers for the person, and says so
  };
  using Print = std::function<void(const std::string& line)>;

  DemoPerson(Who who, Print print) : who_(who), print_(std::move(print)) {}
  Task<Reply> answer(Question question) const override;

 private:
  Reply ask_user(const Question& question) const;

  Who who_;
  Print print_;
};

}  // namespace sallyport::app
