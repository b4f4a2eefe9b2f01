// Topics: a program writes events of its own, and a consumer follows them from where it stopped.
#include <sallyport/engine.h>

#include <iostream>

using namespace sallyport;

int main() {
  const auto opened = EngineBuilder("").open();
  if (!opened) return 1;
  Engine& engine = **opened;
  for (const int number : {1, 2, 3}) {
    if (!engine.publish({.topic = "builds", .kind = "build", .payload = {{"n", number}}})) return 1;
  }

  // A page from the cursor on; the cursor moves once the events are dealt with.
  const auto page = engine.read_topic("builds", engine.cursor("builds", "mailer").value(), 2);
  if (!page) return 1;
  for (const StoredEvent& event : page->events) {
    std::cout << event.id << ' ' << event.kind << ' ' << event.payload.at("n").as_int64() << '\n';
  }
  if (!engine.move_cursor("builds", "mailer", page->events.back().id)) return 1;
  std::cout << "cursor " << engine.cursor("builds", "mailer").value() << '\n';
  std::cout << engine.move_cursor("builds", "mailer", 1).error().message << '\n';

  // History from the cursor on, then what is written later.
  auto news = engine.follow("builds", engine.cursor("builds", "mailer").value());
  if (!news) return 1;
  if (!engine.publish({.topic = "builds", .kind = "done"})) return 1;
  while (const auto message = news->next().value()) {
    std::cout << "followed " << std::get<StoredEvent>(*message).kind << '\n';
  }
  return 0;
}
