#include "people/grant_authority.h"

#include "base/try.h"
#include "ledger/secret/private_file.h"

namespace sallyport::app {

namespace {

std::filesystem::path key_file(const std::filesystem::path& data_dir) {
  return data_dir / "keys" / "grant-authority.key";
}

}  // namespace

Result<std::optional<grants::Signer>> existing_grant_authority(
    const std::filesystem::path& data_dir) {
  SALLYPORT_TRY(const std::optional<std::string> text,
                ledger::read_private_file(key_file(data_dir)));
  if (!text) return std::nullopt;
  Result<grants::Signer> signer = grants::Signer::parse(*text);
  if (!signer) {
    return fail(ErrorCode::Corrupt, signer.error().message, key_file(data_dir).string());
  }
  return std::move(*signer);
}

Result<grants::Signer> grant_authority(Workspace& workspace) {
  const std::filesystem::path& folder = workspace.place().data_dir;
  SALLYPORT_TRY(std::optional<grants::Signer> found, existing_grant_authority(folder));
  if (found) return std::move(*found);
  grants::Signer made = grants::Signer::generate(workspace.entropy());
  SALLYPORT_TRY(const bool first, ledger::create_private_file(key_file(folder), made.file_text()));
  if (first) return made;
  // Another process was quicker.
  SALLYPORT_TRY(found, existing_grant_authority(folder));
  if (!found) {
    return fail(ErrorCode::Unavailable,
                "the key file of the grants was removed while this started; run it again",
                key_file(folder).string());
  }
  return std::move(*found);
}

}  // namespace sallyport::app
