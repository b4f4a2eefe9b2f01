// Finds the questions that neither a session nor a token alone can answer: they need a passkey or
// the registered key.
#pragma once

namespace sallyport::app {

struct StrongQuestions {
  bool dual_control = true;
  bool requires_human = true;
};

}  // namespace sallyport::app
