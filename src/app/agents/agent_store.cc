#include "app/agents/agent_store.h"

#include <fmt/format.h>

#include "base/try.h"
#include "base/visible_text.h"

namespace sallyport::app {

Result<sessions::Session> find_session(sessions::SessionStore* store, const std::string& id) {
  std::optional<sessions::Session> found;
  if (store != nullptr) {
    SALLYPORT_TRY(found, store->session(id));
  }
  if (found) return std::move(*found);
  return fail(
      ErrorCode::NotFound,
      fmt::format("there is no session `{:.80}`; `sallyport agent list` shows them", visible(id)));
}

}  // namespace sallyport::app
