// The trust records of a ledger or of a chain document, one after the other, in the form that they
// are hashed and exported in.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "ledger/proof/verify.h"
#include "ledger/store.h"
#include "trust/control.h"
#include "trust/trust_record.h"

namespace sallyport::app {

// Text of the whole record. False: no more of them.
using OnTrustText = std::function<Result<bool>(std::string_view text)>;

// In the order of the chain.
Result<void> each_trust_text(ledger::ReadView& view, const OnTrustText& on_text);

// For `ledger verify`: a control record counts where one of these people signed it.
ledger::CheckControl signed_by(trust::Reviewers reviewers);

using OnTrustRecord = std::function<void(trust::TrustRecord record)>;
Result<void> each_trust_record(ledger::ReadView& view, const OnTrustRecord& on_record);
// Reads a document. Records that we do not understand are an error.
Result<void> each_trust_record(const std::filesystem::path& file, const OnTrustRecord& on_record);

}  // namespace sallyport::app
