#include "core/result/call_preview.h"

#include <boost/json.hpp>

namespace sallyport::core {

namespace {

struct Effect {
  std::string_view prefix;  // of the effect class
  Capability::Kind capability;
  SideEffectLevel level;
  Durability durability;
  ExecutionCategory execution;
  ApprovalCategory approval;
};

// The first match counts. A class that is not listed previews as unclassified.
constexpr Effect kEffects[] = {
    {"none", Capability::ReadOnly, SideEffectLevel::None, Durability::ReplaySafe,
     ExecutionCategory::ReadOnlyParallel, ApprovalCategory::ReadOnly},
    {"fs.read", Capability::FilesystemRead, SideEffectLevel::None, Durability::ReplaySafe,
     ExecutionCategory::ReadOnlyParallel, ApprovalCategory::ReadOnly},
    {"fs.", Capability::FilesystemWrite, SideEffectLevel::LocalState, Durability::Persistent,
     ExecutionCategory::ExclusiveLocalMutation, ApprovalCategory::Filesystem},
    {"git.push", Capability::FilesystemWrite, SideEffectLevel::External, Durability::Persistent,
     ExecutionCategory::ExclusivePersistentMutation, ApprovalCategory::Default},
    {"git.", Capability::FilesystemWrite, SideEffectLevel::LocalState, Durability::Persistent,
     ExecutionCategory::ExclusiveLocalMutation, ApprovalCategory::Filesystem},
    {"process.", Capability::ProcessExec, SideEffectLevel::Process, Durability::Persistent,
     ExecutionCategory::ExclusivePersistentMutation, ApprovalCategory::Process},
    {"background.", Capability::BackgroundExec, SideEffectLevel::Process, Durability::Persistent,
     ExecutionCategory::BackgroundJob, ApprovalCategory::Background},
    {"agent.delegate", Capability::Delegation, SideEffectLevel::External, Durability::Persistent,
     ExecutionCategory::Delegation, ApprovalCategory::Delegation},
};

}  // namespace

Preview preview_of(const Call& call, const Classification& classification,
                   std::string working_directory) {
  Preview preview = Preview::unclassified();
  // Records class a push with the other changes of a repository, but it leaves the machine (RU-26).
  const bool pushes = call.tool == "git.push" || call.tool == "git_push";
  const std::string_view effect_class =
      pushes ? std::string_view("git.push") : classification.effect_class;
  for (const Effect& effect : kEffects) {
    if (!effect_class.starts_with(effect.prefix)) continue;
    preview.capabilities = {Capability{effect.capability}};
    preview.side_effect_level = effect.level;
    preview.durability = effect.durability;
    preview.execution_category = effect.execution;
    preview.approval_category = effect.approval;
    break;
  }
  preview.working_directory = std::move(working_directory);
  preview.raw_input = call.raw_input ? json::value(*call.raw_input) : call.input;
  return preview;
}

}  // namespace sallyport::core
