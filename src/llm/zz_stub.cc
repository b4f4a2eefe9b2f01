#include "llm/answer_adapter.h"
namespace sallyport::llm {
__attribute__((weak)) std::unique_ptr<AnswerAdapter> chat_adapter(MessageDoors&, AnswerSettings) {
  return nullptr;
}
}  // namespace sallyport::llm
