// The subject of a draft.
//
//   Draft draft{.subject = Subject{.agent_id = "agent:planner"}};
//   draft.subject->agent_id;
//   draft.subject.set(&Subject::call_id, "call_1");
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "core/record/redactor.h"
#include "sallyport/subject.h"

namespace sallyport::core {

// A value. The drafts of one call share their subject, so that a copy of a draft copies no names.
class SharedSubject {
 public:
  SharedSubject() : SharedSubject(nothing()) {}
  SharedSubject(Subject subject) : subject_(std::make_shared<const Subject>(std::move(subject))) {}

  operator const Subject&() const { return *subject_; }
  const Subject* operator->() const { return subject_.get(); }
  // Other drafts keep the subject that they share.
  void set(std::string Subject::* member, std::string value) {
    Subject changed = *subject_;
    changed.*member = std::move(value);
    *this = std::move(changed);
  }

  // True if both are one object, and so equal.
  bool is(const SharedSubject& other) const { return subject_ == other.subject_; }
  friend bool operator==(const SharedSubject& a, const SharedSubject& b) {
    return *a.subject_ == *b.subject_;
  }

 private:
  static const SharedSubject& nothing() {
    static const SharedSubject subject{Subject{}};
    return subject;
  }

  std::shared_ptr<const Subject> subject_;
};

// The members that clients may choose.
inline constexpr std::array<std::string Subject::*, 7> kSubjectNames = {
    &Subject::call_id,   &Subject::session_id, &Subject::agent_id, &Subject::server,
    &Subject::tool_name, &Subject::trace_id,   &Subject::run_id};

// The subject as entries and hooks show it: without secrets in its names.
SharedSubject redacted(const SharedSubject& subject, const Redactor& redactor);

}  // namespace sallyport::core
