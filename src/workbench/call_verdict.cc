#include "workbench/call_verdict.h"

#include "core/record/read_field.h"

namespace sallyport::app {

namespace {

constexpr core::Word<CallVerdict> kCallVerdicts[] = {
    {"runs", CallVerdict::Runs},         {"asks", CallVerdict::Asks},
    {"proposed", CallVerdict::Proposed}, {"shadow", CallVerdict::Shadow},
    {"refused", CallVerdict::Refused},   {"undecided", CallVerdict::Undecided}};

constexpr core::Word<CauseKind> kCauseKinds[] = {
    {"check", CauseKind::Check}, {"rule", CauseKind::Rule},   {"unlisted", CauseKind::Unlisted},
    {"tier", CauseKind::Tier},   {"grant", CauseKind::Grant}, {"pin", CauseKind::Pin},
    {"guard", CauseKind::Guard}, {"call", CauseKind::Call},   {"tool", CauseKind::Tool},
    {"class", CauseKind::Class}};

}  // namespace

std::string_view to_string(CallVerdict verdict) {
  return core::word_of(kCallVerdicts, verdict);
}

std::optional<CallVerdict> call_verdict_from(std::string_view word) {
  return core::enum_of(kCallVerdicts, word);
}

std::vector<std::string_view> call_verdict_words() {
  std::vector<std::string_view> words;
  for (const core::Word<CallVerdict>& each : kCallVerdicts) words.push_back(each.text);
  return words;
}

std::string_view to_string(CauseKind kind) {
  return core::word_of(kCauseKinds, kind);
}

}  // namespace sallyport::app
