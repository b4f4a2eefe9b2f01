#include "mcp/client/client_question.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/try.h"
#include "base/visible_text.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

Task<Envelope> ClientQuestion::invoke(Call call, std::shared_ptr<core::Delivery> /*delivery*/,
                                      std::stop_token cancel) {
  std::string params = decided_params(request_, call_params_, call);
  SALLYPORT_CO_TRY(Message answer, co_await ask_(std::move(params), std::move(cancel)));
  answer_.emplace(std::move(answer));
  co_return answer_->envelope();
}

Task<Envelope> HandedQuestion::invoke(Call call, std::shared_ptr<core::Delivery> /*delivery*/,
                                      std::stop_token /*cancel*/) {
  params_ = decided_params(request_, call_params_, call);
  co_return Envelope::of(json::object{{"given_to", "client"}});
}

std::string marked_form(std::string_view params, std::string_view server) {
  const Result<ParsedJson> read = parse_json(find(params, {"message"}).value_or("null"));
  const std::string message =
      read && read->value.is_string() ? std::string(read->value.get_string()) : std::string();
  return with_member(params.empty() ? "{}" : params, "message",
                     json_quoted(fmt::format("[from server `{}`] {}", visible(server), message)));
}

}  // namespace sallyport::mcp
