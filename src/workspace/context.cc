#include "workspace/context.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/try.h"
#include "base/visible_text.h"
#include "daemon_client/refused_to_user.h"

namespace sallyport::app {

namespace {

bool same_place(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code code;
  const std::filesystem::path first =
      std::filesystem::weakly_canonical(std::filesystem::absolute(one, code), code);
  return first == std::filesystem::weakly_canonical(other, code);
}

}  // namespace

bool Context::names_own_folder() const {
  if (!globals.data_dir && !globals.config && !environment.data_dir) return false;
  if (!system || !*system) return true;
  const SystemSetup& service = **system;
  const bool same_config = globals.config && same_place(*globals.config, service.config);
  const Result<std::filesystem::path> folder = named_data_dir();
  return !same_config && folder && !same_place(*folder, service.data_dir);
}

Result<void> Context::admit(bool own_folder) const {
  if (!system) return std::unexpected(system.error());
  if (!*system || belongs_to_service(**system) || own_folder) return {};
  return refused_to_user(
      **system, command,
      fmt::format("use `sudo -u {} sallyport {} ...`", (*system)->service_user, command));
}

Result<std::filesystem::path> Context::named_data_dir() const {
  if (!globals.data_dir) return default_data_dir(environment);
  if (!globals.data_dir->empty()) return *globals.data_dir;
  return fail(ErrorCode::InvalidInput, "--data-dir is empty; name a folder");
}

Result<std::optional<std::filesystem::path>> Context::config_file() const {
  SALLYPORT_CHECK_OK(admit(names_own_folder()));
  if (globals.config) return globals.config;
  SALLYPORT_TRY(const std::filesystem::path folder, named_data_dir());
  std::error_code code;
  std::filesystem::path usual = folder / "config.yaml";
  if (!std::filesystem::exists(usual, code)) return std::nullopt;
  return usual;
}

Result<Workspace::Place> Context::place() const {
  Workspace::Place place{.allow_network_fs = globals.allow_network_fs};
  SALLYPORT_TRY(const std::optional<std::filesystem::path> file, config_file());
  SALLYPORT_TRY(place.data_dir, named_data_dir());
  if (file) {
    SALLYPORT_TRY(place.config, load_config(*file));
    if (place.config.data_dir && !globals.config) {
      return fail(ErrorCode::InvalidInput, "`data_dir` is for a file that --config names",
                  file->string());
    }
    if (place.config.data_dir && !globals.data_dir) place.data_dir = *place.config.data_dir;
  }
  // A file of the user's own may name the folder of the service.
  if (system && *system) {
    SALLYPORT_CHECK_OK(admit(!same_place(place.data_dir, (*system)->data_dir)));
  }
  return place;
}

Result<std::filesystem::path> Context::data_dir() const {
  SALLYPORT_TRY(Workspace::Place here, place());
  return std::move(here.data_dir);
}

Result<std::unique_ptr<Workspace>> Context::open_reading() const {
  SALLYPORT_TRY(Workspace::Place here, place());
  SALLYPORT_TRY(std::unique_ptr<Workspace> workspace, Workspace::open_reading(std::move(here)));
  report_newer(*workspace);
  return workspace;
}

Result<std::unique_ptr<Workspace>> Context::await_reading(
    const std::function<bool()>& stopped) const {
  constexpr std::chrono::milliseconds kLookAgain{500};
  const auto no_ledger = [](const Error& error) { return error.cause == Workspace::kNoLedger; };
  Result<std::unique_ptr<Workspace>> opened = open_reading();
  if (opened || !no_ledger(opened.error())) return opened;
  fmt::print(stderr, "sallyport: there is no ledger yet, {}; waiting for the first call\n",
             visible(opened.error().where));
  while (!opened && no_ledger(opened.error()) && !stopped()) {
    std::this_thread::sleep_for(kLookAgain);
    opened = open_reading();
  }
  if (opened || stopped()) return opened;
  // The process that makes the ledger may not be done.
  std::this_thread::sleep_for(kLookAgain);
  return open_reading();
}

void Context::report_newer(Workspace& workspace) {
  if (!workspace.store().is_newer()) return;
  fmt::print(stderr, "sallyport: {} was written by a newer release, and is read only here\n",
             visible(workspace.store().name()));
}

Result<std::unique_ptr<Workspace>> Context::open_maintaining() const {
  SALLYPORT_TRY(Workspace::Place here, place());
  return Workspace::open_writing(std::move(here), {.role = "maintenance", .announced = false});
}

}  // namespace sallyport::app
