// Any bytes as the configuration of an agent: one error with a position, or settings within the
// limits that the reader guarantees.
#include <cstdint>
#include <string>

#include "app/agents/agent_config.h"
#include "base/try.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::filesystem::path file = "/no/such/folder/agent.yaml";
  const Result<agent::Settings> settings = app::parse_agent_config(text, file);
  if (!settings) {
    const Error& error = settings.error();
    SALLYPORT_INVARIANT(error.code == ErrorCode::InvalidInput);
    SALLYPORT_INVARIANT(!error.message.empty());
    SALLYPORT_INVARIANT(error.message.find('\n') == std::string::npos);
    SALLYPORT_INVARIANT(error.where.starts_with(file.string()));
    return 0;
  }
  SALLYPORT_INVARIANT(!settings->id.empty());
  SALLYPORT_INVARIANT(settings->background.max_running >= 1 &&
                      settings->background.max_running <= 1000);
  // The same bytes give the same settings.
  SALLYPORT_INVARIANT(app::parse_agent_config(text, file).has_value());
  return 0;
}
