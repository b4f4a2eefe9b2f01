#include "sallyport/preview.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/object_reader.h"
#include "core/record/read_field.h"
#include "core/record/shapes.h"

namespace sallyport {

namespace {

using core::read_word;
using core::Word;
using core::word_of;

// `Custom` is no word: it is an object with a name.
constexpr Word<Capability::Kind> kCapabilities[] = {
    {"ReadOnly", Capability::ReadOnly},
    {"FilesystemRead", Capability::FilesystemRead},
    {"FilesystemWrite", Capability::FilesystemWrite},
    {"ProcessExec", Capability::ProcessExec},
    {"BackgroundExec", Capability::BackgroundExec},
    {"TaskMutation", Capability::TaskMutation},
    {"TeamCoordination", Capability::TeamCoordination},
    {"Delegation", Capability::Delegation},
    {"ContextCompaction", Capability::ContextCompaction},
    {"SkillLoad", Capability::SkillLoad},
};
constexpr Word<SideEffectLevel> kSideEffectLevels[] = {
    {"None", SideEffectLevel::None},
    {"LocalState", SideEffectLevel::LocalState},
    {"Process", SideEffectLevel::Process},
    {"External", SideEffectLevel::External},
};
constexpr Word<Durability> kDurabilities[] = {
    {"Ephemeral", Durability::Ephemeral},
    {"Persistent", Durability::Persistent},
    {"ReplaySafe", Durability::ReplaySafe},
};
constexpr Word<ExecutionCategory> kExecutionCategories[] = {
    {"ReadOnlyParallel", ExecutionCategory::ReadOnlyParallel},
    {"ExclusiveLocalMutation", ExecutionCategory::ExclusiveLocalMutation},
    {"ExclusivePersistentMutation", ExecutionCategory::ExclusivePersistentMutation},
    {"BackgroundJob", ExecutionCategory::BackgroundJob},
    {"Delegation", ExecutionCategory::Delegation},
};
constexpr Word<ApprovalCategory> kApprovalCategories[] = {
    {"Default", ApprovalCategory::Default},       {"ReadOnly", ApprovalCategory::ReadOnly},
    {"Filesystem", ApprovalCategory::Filesystem}, {"Process", ApprovalCategory::Process},
    {"Background", ApprovalCategory::Background}, {"Delegation", ApprovalCategory::Delegation},
};

Result<Capability> capability_from(const json::value& item, std::string_view name,
                                   const std::string& where) {
  if (item.is_object()) {
    ObjectReader in(item, fmt::format("{}.{}", where, name));
    Capability custom = Capability::custom(in.text("Custom"));
    if (!in.ok()) return std::unexpected(in.error());
    return custom;
  }
  // An item has no name of its own, so it is read as a member that is named by its place.
  const json::object item_as_member{{name, item}};
  ObjectReader in(item_as_member, where);
  Capability plain{read_word(in, name, kCapabilities)};
  if (!in.ok()) return std::unexpected(in.error());
  return plain;
}

}  // namespace

template <class Out>
void core::write_members(Out& out, const Preview& preview) {
  out.put("working_directory", preview.working_directory);
  out.array("capabilities", [&] {
    for (const Capability& capability : preview.capabilities) {
      if (capability.kind == Capability::Custom) {
        out.object([&] { out.put("Custom", capability.name); });
      } else {
        out.item(word_of(kCapabilities, capability.kind));
      }
    }
  });
  out.put("side_effect_level", word_of(kSideEffectLevels, preview.side_effect_level));
  out.put("durability", word_of(kDurabilities, preview.durability));
  out.put("execution_category", word_of(kExecutionCategories, preview.execution_category));
  out.put("approval_category", word_of(kApprovalCategories, preview.approval_category));
  out.put("raw_input", preview.raw_input);
  out.put("structured_input", preview.structured_input);
}
template void core::write_members(CanonicalWriter& out, const Preview& preview);
template void core::write_members(ObjectWriter& out, const Preview& preview);

json::object to_json(const Preview& preview) {
  return core::object_of(preview);
}

Result<Preview> preview_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, where);
  Preview preview;
  preview.working_directory = in.text("working_directory");
  std::size_t index = 0;
  for (const json::value& item : in.array("capabilities")) {
    const std::string name = fmt::format("capabilities[{}]", index++);
    preview.capabilities.push_back(in.take(capability_from(item, name, where)));
  }
  preview.side_effect_level = read_word(in, "side_effect_level", kSideEffectLevels);
  preview.durability = read_word(in, "durability", kDurabilities);
  preview.execution_category = read_word(in, "execution_category", kExecutionCategories);
  preview.approval_category = read_word(in, "approval_category", kApprovalCategories);
  preview.raw_input = core::read_any(in, "raw_input");
  preview.structured_input = core::read_any(in, "structured_input");
  if (!in.ok()) return std::unexpected(in.error());
  return preview;
}

}  // namespace sallyport
