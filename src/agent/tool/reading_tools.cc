#include <boost/json.hpp>

#include "agent/tool/file_reading.h"
#include "agent/tool/own_tool.h"
#include "agent/tool/tool_families.h"
#include "agent/tool/tool_output.h"
#include "agent/tool/tool_schema.h"
#include "base/json_members.h"
#include "base/on_pool.h"
#include "base/try.h"

namespace sallyport::agent {

namespace {

using Reader = Result<std::string> (*)(const Roots& roots, const json::object& input,
                                       std::stop_token cancel);

class ReadingTool final : public OwnTool {
 public:
  ReadingTool(SharedContext context, OfferedTool offered, Reader reader)
      : OwnTool(std::move(context), std::move(offered)), reader_(reader) {}

 protected:
  Task<Envelope> answer(Call call, std::stop_token cancel) override {
    SALLYPORT_CO_TRY(std::string text,
                     co_await on_pool<Result<std::string>>(
                         context()->parts.pool,
                         [context = context(), reader = reader_, input = call.input.as_object(),
                          cancel] { return reader(*context->roots, input, cancel); }));
    co_return Envelope::of(json::value(std::move(text)));
  }

 private:
  const Reader reader_;
};

Result<std::string> run_read_file(const Roots& roots, const json::object& input,
                                  std::stop_token cancel) {
  return read_file(roots,
                   {.path = text_or_empty(input, "path"),
                    .offset = number_in(input, "offset").value_or(1),
                    .limit = number_in(input, "limit")},
                   std::move(cancel));
}

Result<std::string> run_list_files(const Roots& roots, const json::object& input,
                                   std::stop_token cancel) {
  return list_files(roots,
                    {.path = text_or_empty(input, "path"),
                     .recursive = bool_in(input, "recursive").value_or(false)},
                    std::move(cancel));
}

Result<std::string> run_search_files(const Roots& roots, const json::object& input,
                                     std::stop_token cancel) {
  SearchFiles query{.pattern = text_or_empty(input, "pattern"),
                    .path = text_or_empty(input, "path"),
                    .glob = text_or_empty(input, "glob")};
  query.limit = number_in(input, "limit").value_or(query.limit);
  return search_files(roots, query, std::move(cancel));
}

}  // namespace

std::vector<ToolEntry> reading_tools(const SharedContext& context) {
  if (context->roots->paths().empty()) return {};
  const OfferedTool read{
      .name = "read_file",
      .description =
          "Reads a text file by lines. A long file is cut; the last line of the result says how "
          "to read on.",
      .schema = schema_of({{"path", InputType::Text, "the file, below a root", true},
                           {"offset", InputType::Count, "the first line, counted from 1"},
                           {"limit", InputType::Count, "how many lines"}})};
  const OfferedTool list{
      .name = "list_files",
      .description = "Lists a folder.",
      .schema = schema_of({{"path", InputType::Text, "the folder, below a root", true},
                           {"recursive", InputType::Flag, "also list the folders below"}})};
  const OfferedTool search{
      .name = "search_files",
      .description = "Finds lines of text files that match a regular expression.",
      .schema =
          schema_of({{"pattern", InputType::Text, "the regular expression", true},
                     {"path", InputType::Text, "a file or folder; the first root if left out"},
                     {"glob", InputType::Text, "only files whose path matches, as `**/*.cc`"},
                     {"limit", InputType::Count, "the maximum number of matches"}})};
  return {{read, true, std::make_shared<ReadingTool>(context, read, run_read_file)},
          {list, true, std::make_shared<ReadingTool>(context, list, run_list_files)},
          {search, true, std::make_shared<ReadingTool>(context, search, run_search_files)}};
}

}  // namespace sallyport::agent
