// Continues a call that the model proxy handed to its client, at another front: under the same call
// id, and with one record (MP-61).
#pragma once

#include <memory>
#include <string>

#include "core/call/governor.h"

namespace sallyport::core {

// Runs a call like `Governor::run`. `model_id` is the id that the model gave it, as the client
// says; empty: unknown. If the proxy has proposed a call under that id to the same agent, that call
// continues: with the same tool and input, once. The same call again gets the stored answer, and
// another input under the id is refused as an idempotency conflict.
Task<Answer> run_model_call(Governor& governor, Call call, std::string model_id,
                            std::shared_ptr<Upstream> upstream, Caller caller = {});

}  // namespace sallyport::core
