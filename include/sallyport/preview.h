// A preview says what a tool call is about to do. The authorizer and the events show it.
//
//   Preview preview = Preview::unclassified();       // may do anything, permanently
//   preview.capabilities = {{Capability::FilesystemRead}, Capability::custom("crm.read")};
//   to_json(preview).at("capabilities");             // ["FilesystemRead",{"Custom":"crm.read"}]
//
// The names of the enumerators are the words in JSON.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

// One thing that a tool can do.
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
  std::string name{};  // only for `Custom`

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

// A value. Each default is the most cautious one.
struct Preview {
  std::string working_directory{};
  std::vector<Capability> capabilities{};
  SideEffectLevel side_effect_level = SideEffectLevel::External;
  Durability durability = Durability::Persistent;
  ExecutionCategory execution_category = ExecutionCategory::ExclusivePersistentMutation;
  ApprovalCategory approval_category = ApprovalCategory::Default;
  json::value raw_input{};         // the input of the caller
  json::value structured_input{};  // the input as the tool reads it; null: it could not be built

  // The preview of a tool without a classification.
  static Preview unclassified() { return {}; }

  bool operator==(const Preview&) const = default;
};

json::object to_json(const Preview& preview);

// Unknown members are ignored. `InvalidInput` names the member that is missing, has a wrong type or
// an unknown word; messages name the object `where`.
Result<Preview> preview_from_json(const json::value& value, std::string where = "preview");

}  // namespace sallyport
