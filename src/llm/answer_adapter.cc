#include "llm/answer_adapter.h"

namespace sallyport::llm {

std::unique_ptr<AnswerAdapter> answer_adapter(Api api, MessageDoors& doors,
                                              AnswerSettings settings) {
  switch (api) {
    case Api::AnthropicMessages:
      return anthropic_adapter(doors, settings);
    case Api::OpenAiChat:
      return chat_adapter(doors, settings);
    case Api::OpenAiResponses:
      break;
  }
  return responses_adapter(doors, settings);
}

}  // namespace sallyport::llm
