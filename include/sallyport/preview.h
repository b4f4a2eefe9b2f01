// What a tool call is about to do, as the one who decides about it sees it.
//
//   Preview preview = Preview::unclassified();       // may do anything, and for good
//   preview.capabilities = {{Capability::FilesystemRead}, Capability::custom("crm.read")};
//   to_json(preview).at("capabilities");             // ["FilesystemRead",{"Custom":"crm.read"}]
//
// The enumerators are spelled as on the wire.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

struct Capability {
  enum Kind {
    ReadOnly,
    FilesystemRead,
    FilesystemWrite,
    ProcessExec,
    BackgroundExec,
    TaskMutation,
    TeamCoordination,
    Delegation,
    ContextCompaction,
    SkillLoad,
    Custom,
  };

  Kind kind = Custom;
  std::string name{};  // of a custom one; empty for all others

  static Capability custom(std::string name) { return {Custom, std::move(name)}; }

  bool operator==(const Capability&) const = default;
};

enum class SideEffectLevel { None, LocalState, Process, External };
enum class Durability { Ephemeral, Persistent, ReplaySafe };
enum class ExecutionCategory {
  ReadOnlyParallel,
  ExclusiveLocalMutation,
  ExclusivePersistentMutation,
  BackgroundJob,
  Delegation,
};
enum class ApprovalCategory { Default, ReadOnly, Filesystem, Process, Background, Delegation };

// Where nobody says otherwise, the most cautious value of each.
struct Preview {
  std::string working_directory{};
  std::vector<Capability> capabilities{};
  SideEffectLevel side_effect_level = SideEffectLevel::External;
  Durability durability = Durability::Persistent;
  ExecutionCategory execution_category = ExecutionCategory::ExclusivePersistentMutation;
  ApprovalCategory approval_category = ApprovalCategory::Default;
  json::value raw_input{};         // as the caller gave it
  json::value structured_input{};  // as the tool understands it; null when it could not be built

  // Of a tool that nobody classified.
  static Preview unclassified() { return {}; }

  bool operator==(const Preview&) const = default;
};

json::object to_json(const Preview& preview);

// Unknown members are ignored. `InvalidInput` names the member that is missing, of a wrong type or
// outside its list; `where` is how messages name the object.
Result<Preview> preview_from_json(const json::value& value, std::string where = "preview");

}  // namespace sallyport
