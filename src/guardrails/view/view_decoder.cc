#include "guardrails/view/view_decoder.h"

#include "guardrails/view/view_json.h"
#include "guardrails/view/view_percent.h"
#include "guardrails/view/view_runs.h"

namespace sallyport::guardrails {

std::unique_ptr<Decoder> make_decoder(View view) {
  switch (view) {
    case View::Percent:
      return std::make_unique<PercentDecoder>();
    case View::Json:
      return std::make_unique<JsonDecoder>();
    case View::Base64:
      return std::make_unique<RunDecoder>(RunDecoder::Kind::Base64);
    default:
      return std::make_unique<RunDecoder>(RunDecoder::Kind::Hex);
  }
}

}  // namespace sallyport::guardrails
