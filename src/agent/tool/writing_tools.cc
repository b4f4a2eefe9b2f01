#include <fmt/format.h>

#include <boost/json.hpp>

#include "agent/tool/file_change.h"
#include "agent/tool/own_tool.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tool_output.h"
#include "agent/tool/tool_schema.h"
#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/try.h"
#include "base/uuid.h"

namespace sallyport::agent {

namespace {

using core::PrepareStep;

// Looks at the file once, and is ready.
class ChangePreparation final : public core::Preparation {
 public:
  ChangePreparation(SharedContext context, OfferedTool tool, Call call)
      : context_(std::move(context)), tool_(std::move(tool)), call_(std::move(call)) {}

  Task<std::optional<PrepareStep>> next() override {
    const Result<json::object> input = checked_input(tool_, call_.input);
    if (!input) co_return PrepareStep{PrepareStep::Kind::Invalid, input.error().message};
    const Result<FileChange> change = co_await on_pool<Result<FileChange>>(
        context_->parts.pool,
        [context = context_, given = *input] { return plan_change(*context->roots, given); });
    if (change) {
      co_return PrepareStep{
          .kind = PrepareStep::Kind::Ready,
          .prepared = {.operation_id = uuid7_text(context_->parts.clock, context_->parts.entropy),
                       .revision = 1,
                       .snapshot = to_json(*change)}};
    }
    const std::string message = readable(change.error().message);
    if (!is_refusal(change.error())) co_return PrepareStep{PrepareStep::Kind::Invalid, message};
    co_return PrepareStep{.kind = PrepareStep::Kind::Refused,
                          .text = message,
                          .action = denied_action(tool_.name),
                          .detail = refused_detail(*input)};
  }

 private:
  const SharedContext context_;
  const OfferedTool tool_;
  const Call call_;
};

// `write_file` and `edit_file`. The snapshot has all that a change needs, so it survives a restart.
class WritingTool final : public core::PreparingUpstream {
 public:
  WritingTool(SharedContext context, OfferedTool offered)
      : context_(std::move(context)), offered_(std::move(offered)) {}

  std::shared_ptr<core::Preparation> prepare(Call call, std::stop_token) override {
    return std::make_shared<ChangePreparation>(context_, offered_, std::move(call));
  }
  void cancel(std::string) override {}
  bool outlives_process() const override { return true; }
  std::string working_directory() const override { return context_->roots->paths().front(); }
  ToolResult result_of(const Envelope& released) const override {
    return result_with_data(released);
  }

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token) override {
    SALLYPORT_CO_TRY(const Operation operation, operation_of(call.input));
    const Result<bool> done =
        co_await on_pool<Result<bool>>(context_->parts.pool, [context = context_, operation] {
          return apply_change(*context->roots, operation.input, operation.change, operation.id);
        });
    if (done) co_return answer_of(operation.change, *done);
    if (done.error().cause == "other_revision") co_return std::unexpected(done.error());
    const std::optional<event::DeniedAction> action = denied_action(offered_.name);
    if (is_refusal(done.error()) && action) {
      delivery->deny(*action, refused_detail(operation.input));
    }
    co_return Envelope::error(readable(done.error().message));
  }

 private:
  struct Operation {
    std::string id{};
    json::object input{};
    FileChange change{};
  };

  Result<Operation> operation_of(const json::value& effective) const {
    const json::object* const members = effective.if_object();
    const json::value* const requested =
        members ? members->if_contains("requested_input") : nullptr;
    const json::value* const snapshot =
        members ? members->if_contains("prepared_snapshot") : nullptr;
    if (requested == nullptr || snapshot == nullptr) {
      return fail(ErrorCode::InvalidInput, "the change was not prepared");
    }
    Operation operation{.id = text_or_empty(*members, "operation_id")};
    // The id becomes part of a file name.
    if (!parse_uuid(operation.id)) {
      return fail(ErrorCode::InvalidInput, "`operation_id` is not a UUID");
    }
    SALLYPORT_TRY(operation.input, checked_input(offered_, *requested));
    SALLYPORT_TRY(operation.change, file_change_from_json(*snapshot));
    return operation;
  }

  static Envelope answer_of(const FileChange& change, bool replaced) {
    json::object data = to_json(change);
    data.erase("diff");
    return text_and_data(
        true,
        fmt::format("`{}` {}", change.path, replaced ? "is written" : "has this content already"),
        std::move(data));
  }

  const SharedContext context_;
  const OfferedTool offered_;
};

}  // namespace

std::vector<ToolEntry> writing_tools(const SharedContext& context) {
  if (!context->roots->writes()) return {};
  const OfferedTool write{
      .name = "write_file",
      .description = "Writes a whole text file, and creates the folders that it needs.",
      .schema = schema_of({{"path", InputType::Text, "the file, below a root", true},
                           {"content", InputType::Text, "the whole new content", true}})};
  const OfferedTool edit{
      .name = "edit_file",
      .description = "Replaces a piece of text in a file.",
      .schema =
          schema_of({{"path", InputType::Text, "the file, below a root", true},
                     {"old", InputType::Text, "the text to replace, exactly as in the file", true},
                     {"new", InputType::Text, "the new text", true},
                     {"all", InputType::Flag, "replace every occurrence"}})};
  return {{write, false, std::make_shared<WritingTool>(context, write)},
          {edit, false, std::make_shared<WritingTool>(context, edit)}};
}

}  // namespace sallyport::agent
