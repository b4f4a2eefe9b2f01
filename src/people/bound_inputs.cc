#include "people/bound_inputs.h"

#include "base/try.h"
#include "ledger/secret/key_folder.h"
#include "ledger/secret/secret_box.h"

namespace sallyport::app {

core::Decrypt decrypt_with(Workspace& workspace) {
  return [&workspace](std::string_view sealed) -> Result<std::string> {
    SALLYPORT_TRY(const ledger::KeyFolder keys,
                  ledger::KeyFolder::open(workspace.place().data_dir));
    SALLYPORT_TRY(std::string key, keys.box_key(workspace.entropy()));
    return ledger::SecretBox(std::move(key)).open(sealed);
  };
}

}  // namespace sallyport::app
