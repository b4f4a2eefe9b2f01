
#include "base/try.h"
#include "cli/common_options.h"
#include "ledger/read/export.h"
#include "records/selection.h"
#include "records/short_ids.h"
#include "terminal/output.h"
#include "workspace/version.h"

namespace sallyport::app {

namespace {

struct ExportOptions {
  std::string format = "jsonl";
  std::optional<std::filesystem::path> out;
  bool with_openings = false;
  FilterOptions filter;
};

std::unexpected<Error> usage(std::string message) {
  return fail(ErrorCode::InvalidInput, std::move(message));
}

Result<void> check_options(const ExportOptions& options) {
  if (options.format == "cef") return {};
  const FilterOptions only_after{.after = options.filter.after};
  if (options.filter != only_after) {
    return usage(
        "filters are for --format cef; an export that leaves entries out cannot be verified");
  }
  if (options.with_openings) {
    return usage("--with-openings is for --format cef; JSON Lines always has them, tiles never");
  }
  if (options.format == "tlog-tiles" && options.filter.after) {
    return usage(
        "--after is not for --format tlog-tiles; a folder is brought up to date by itself");
  }
  if (options.format == "tlog-tiles" && (!options.out || *options.out == "-")) {
    return usage("--format tlog-tiles writes a folder; name it with --out");
  }
  return {};
}

Result<void> export_lines(ledger::ReadView& view, const ExportOptions& options,
                          const ledger::Filter& filter, Output& output) {
  const ledger::Line line = [&](std::string_view text) -> Result<void> {
    SALLYPORT_CHECK_OK(output.write(text));
    return output.write("\n");
  };
  if (options.format == "jsonl") return ledger::export_json_lines(view, filter.after, line);
  return ledger::export_cef(view, filter, version(), options.with_openings, line);
}

Result<int> ledger_export(const Context& context, const ExportOptions& options) {
  SALLYPORT_CHECK_OK(check_options(options));
  SALLYPORT_TRY(ledger::Filter filter, filter_from(options.filter));
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  if (options.format == "tlog-tiles") {
    SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
      return ledger::export_tiles(view, *options.out);
    }));
    return 0;
  }
  SALLYPORT_TRY(const std::unique_ptr<Output> output, Output::open(options.out));
  SALLYPORT_CHECK_OK(workspace->store().read([&](ledger::ReadView& view) -> Result<void> {
    SALLYPORT_CHECK_OK(complete_call(view, filter));
    return export_lines(view, options, filter, *output);
  }));
  SALLYPORT_CHECK_OK(output->finish());
  return 0;
}

const Command kLedgerExport("ledger export", "export the ledger for other programs", ledger_export,
                            [](Syntax& syntax, ExportOptions& options) {
                              syntax.text("--format", options.format, "format [jsonl]")
                                  .choices({"jsonl", "tlog-tiles", "cef"});
                              syntax.file("--out", options.out,
                                          "file or folder to write [standard output]", "PATH");
                              syntax.flag("--with-openings", options.with_openings,
                                          "include the content of sealed fields (cef)");
                              filter_options(syntax, options.filter);
                            });

}  // namespace

}  // namespace sallyport::app
