#include "core/record/shared_subject.h"

namespace sallyport::core {

SharedSubject redacted(const SharedSubject& subject, const Redactor& redactor) {
  SharedSubject shown = subject;
  for (std::string Subject::* const name : kSubjectNames) {
    std::string text = (*subject.operator->()).*name;
    if (!text.empty() && redact_name(redactor, text)) shown.set(name, std::move(text));
  }
  return shown;
}

}  // namespace sallyport::core
