// An answer in words to a question that is about no call (AP-25); or many answers at once, each
// with its own verdict and the binding of what was seen: they succeed or fail one by one, and there
// is no "approve all" (AP-42).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "cli/common_options.h"
#include "core/approval/approval_request.h"
#include "ledger/read/store_reader.h"
#include "people/agent_ancestry.h"
#include "people/answer_limits.h"
#include "people/answering.h"
#include "people/approval_items.h"
#include "records/short_ids.h"
#include "terminal/input.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

// Words for one question, or a list of verdicts.
struct ApprovalsBatchOptions {
  std::optional<std::string> id;
  std::optional<std::string> words;
  std::optional<std::filesystem::path> batch;
  LoginOptions login;
};

constexpr std::size_t kLargestFile = 4u << 20;
constexpr std::size_t kMostItems = 1000;

struct Item {
  std::string id{};
  std::string binding{};
  std::string reason{};
  bool approved = false;
};

// Only the JSON value true in `approved` is a yes (AP-12). The person who logged in answers: an
// item that names a person is refused (AP-2).
Result<Item> read_item(const json::value& value, const std::string& where) {
  const json::object* const object = value.if_object();
  if (object == nullptr) return fail(ErrorCode::InvalidInput, "an answer must be an object", where);
  for (const json::key_value_pair& pair : *object) {
    const std::string_view name = pair.key();
    if (name == "request_id" || name == "approved" || name == "binding" || name == "reason") {
      continue;
    }
    return fail(ErrorCode::InvalidInput,
                fmt::format("unknown member `{:.80}`; an answer has request_id, approved, binding "
                            "and reason",
                            name),
                where);
  }
  const auto id = text_in(*object, "request_id");
  const auto binding = text_in(*object, "binding");
  const json::value* const approved = object->if_contains("approved");
  if (!id || !binding || approved == nullptr) {
    return fail(ErrorCode::InvalidInput, "each answer needs `request_id`, `approved` and `binding`",
                where);
  }
  const json::value* const reason = object->if_contains("reason");
  if (reason != nullptr && !reason->is_string()) {
    return fail(ErrorCode::InvalidInput, "`reason` is a text", where);
  }
  return Item{.id = std::string(*id),
              .binding = std::string(*binding),
              .reason = text_or_empty(*object, "reason"),
              .approved = approved->is_bool() && approved->get_bool()};
}

Result<std::vector<Item>> read_batch(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, read_input(file, kLargestFile));
  SALLYPORT_TRY(const ParsedJson parsed, parse_json(text));
  const json::array* const list = parsed.value.if_array();
  if (list == nullptr || list->empty() || list->size() > kMostItems) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("a batch is a list of 1 to {} answers", kMostItems), file.string());
  }
  std::vector<Item> items;
  for (const json::value& value : *list) {
    SALLYPORT_TRY(Item item, read_item(value, fmt::format("{}[{}]", file.string(), items.size())));
    items.push_back(std::move(item));
  }
  return items;
}

Result<std::string> answer_one(const Context& context, const Answering& person, const Item& item) {
  if (item.approved) {
    SALLYPORT_CHECK_OK(pending_request(context, item.id));
    SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
    ledger::StoreReader records(workspace->store());
    const WallTime now = workspace->clock().wall();
    SALLYPORT_TRY(const ApprovalItem seen, approval_item(records, item.id, now));
    SALLYPORT_CHECK_OK(
        may_be_listed(workspace->store(), seen.request, seen.state, person.login().name, now));
  }
  const Reply::Kind kind = item.approved ? Reply::Kind::Approved : Reply::Kind::Denied;
  SALLYPORT_TRY(
      const Answering::Recorded given,
      person.answer(item.id, {.kind = kind, .reason = item.reason, .binding = item.binding}));
  return std::string(to_string(given.state.status));
}

void print_state(const Context& context, const Item& item, const Result<std::string>& state) {
  if (context.json()) {
    json::object object{{"request_id", item.id}, {"ok", state.has_value()}};
    if (state) object["state"] = *state;
    if (!state) object["error"] = state.error().message;
    print_line(visible_json(canonical_json(object)));
    return;
  }
  print_line(fmt::format("{}  {}", visible(item.id),
                         state ? *state : "not answered: " + visible(state.error().message)));
}

Result<int> answer_question(const Context& context, const std::string& id,
                            const ApprovalsBatchOptions& options) {
  SALLYPORT_TRY(const json::object request, pending_request(context, id));
  if (core::kind_of(request) != QuestionKind::Question) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("`{}` is about a call: `sallyport approvals approve` or `deny` takes "
                            "it",
                            id));
  }
  if (!options.words || options.words->empty()) {
    return fail(ErrorCode::InvalidInput, "say what you answer with `--text`");
  }
  SALLYPORT_TRY(Login login, log_in(context, options.login, "approvals answer"));
  const Answering person(context, std::move(login));
  SALLYPORT_TRY(const Answering::Recorded given,
                person.answer(id, {.kind = Reply::Kind::Approved, .answer = *options.words}));
  if (context.json()) {
    print_line(visible_json(canonical_json(json::object{{"request_id", id},
                                                        {"state", to_string(given.state.status)},
                                                        {"reviewer", given.reply.by}})));
  } else {
    print_line(fmt::format("{} answered by {}", visible(id), visible(given.reply.by)));
  }
  return 0;
}

Result<int> approvals_answer(const Context& context, const ApprovalsBatchOptions& options) {
  SALLYPORT_CHECK_OK(refuse_agents(context, "approvals answer"));
  if (options.id) {
    SALLYPORT_TRY(const std::string id, whole_request_id(context, *options.id));
    return answer_question(context, id, options);
  }
  if (!options.batch) {
    return fail(ErrorCode::InvalidInput,
                "name a question and what you answer with `--text`, or a list with `--batch`");
  }
  SALLYPORT_TRY(const std::vector<Item> items, read_batch(*options.batch));
  SALLYPORT_TRY(Login login, log_in(context, options.login, "approvals answer"));
  const Answering person(context, std::move(login));
  bool all = true;
  for (const Item& item : items) {
    const Result<std::string> state = answer_one(context, person, item);
    all = all && state.has_value();
    print_state(context, item, state);
  }
  return all ? 0 : 1;
}

const Command kApprovalsAnswer(
    "approvals answer",
    "answer a question with a text, or many approval requests, each with its verdict",
    approvals_answer, [](Syntax& syntax, ApprovalsBatchOptions& options) {
      const Option which = syntax.text("id", options.id, "id of the question", "ID");
      syntax.text("--text", options.words, "your answer").needs(which);
      syntax
          .file("--batch", options.batch,
                "answer many: [{request_id, approved, binding, reason?}, ...]")
          .excludes(which);
      login_options(syntax, options.login);
    });

}  // namespace

}  // namespace sallyport::app
