// The content of a sealed field: salt and value, stored beside the entry and outside its hash.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "sallyport/json.h"

namespace sallyport::ledger {

using Salt = std::array<std::uint8_t, 32>;

enum class Form { Json, Raw };
enum class OpeningState {
  Open,      // salt and value kept
  Withheld,  // salt kept, value never stored
  Erased,    // neither
};
std::string_view state_name(OpeningState state);

struct Opening {
  std::string path;  // JSON Pointer into the entry
  Form form = Form::Json;
  OpeningState state = OpeningState::Open;
  Salt salt{};
  std::string value;  // canonical JSON, or the bytes themselves

  bool operator==(const Opening&) const = default;
};

// The commitment of LE-13 as entries have it: `sha256:<hex>`.
std::string seal_digest(Form form, const Salt& salt, std::string_view value);

// The form of our own store (docs/formats.md); receipts and exports show the open ones as JSON.
std::string pack_openings(const std::vector<Opening>& openings);

// Appends what a seal covers of packed openings: everything but salts and values of open ones,
// which the commitments of the entry bind. Damaged ones are appended as they are.
void append_manifest(std::string& out, std::string_view packed);
bool has_erased(std::string_view packed);

Result<std::vector<Opening>> unpack_openings(std::string_view packed);

// `{"form":..,"path":..,"salt":..,"value":..}` as in a receipt. Only for open ones.
void append_opening_json(std::string& out, const Opening& opening);

// Reads what `append_opening_json` wrote; exact members, canonical base64.
Result<Opening> opening_from_json(const json::value& value);

// Checks that the commitment at `opening.path` of `entry` matches. Withheld and erased openings
// only have to point at a commitment.
Result<void> check_opening(const json::value& entry, const Opening& opening);

}  // namespace sallyport::ledger
