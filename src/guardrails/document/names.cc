#include "guardrails/document/names.h"

#include <boost/json.hpp>

namespace sallyport::guardrails {

namespace {

struct Row {
  std::string_view code;
  Name english;
  Name ukrainian;
};

constexpr Row kStageNames[] = {
    {"input", {"Prompt", "text on its way to the model"}, {"Запит", "текст на шляху до моделі"}},
    {"output",
     {"Answer", "text and reasoning that the model streams"},
     {"Відповідь", "текст і міркування, які модель надсилає потоком"}},
    {"tool_use",
     {"Tool call", "name and arguments of a call, before it runs"},
     {"Виклик інструмента", "назва й аргументи виклику до його виконання"}},
    {"tool_output",
     {"Tool result", "what a tool returned, before the agent sees it"},
     {"Результат інструмента", "те, що повернув інструмент, перш ніж це хтось побачить"}},
};

constexpr Row kTypeNames[] = {
    {"regex",
     {"Pattern", "searches the text for regular expressions"},
     {"Шаблон", "шукає в тексті регулярні вирази"}},
    {"blocklist",
     {"Word list", "searches the text for words"},
     {"Список слів", "шукає в тексті слова"}},
    {"tool_pattern",
     {"Tool name", "compares the tool's name with wildcards"},
     {"Назва інструмента", "порівнює назву інструмента з масками"}},
};

constexpr Row kActionNames[] = {
    {"block",
     {"Block", "nothing passes; the replacement is given instead"},
     {"Заблокувати", "нічого не проходить; замість цього дається заміна"}},
    {"redact",
     {"Redact", "what was found is replaced, the rest passes"},
     {"Вилучити", "знайдене замінюється, решта проходить"}},
    {"log",
     {"Log", "everything passes, and the find is recorded"},
     {"Записати", "усе проходить, а знахідка потрапляє до журналу"}},
};

constexpr Row kReasonNames[] = {
    {"guardrail.regex",
     {"Pattern found", "a pattern of the check was found in the text"},
     {"Знайдено шаблон", "у тексті знайдено шаблон перевірки"}},
    {"guardrail.blocklist",
     {"Word found", "a word of the check's list was found in the text"},
     {"Знайдено слово", "у тексті знайдено слово зі списку перевірки"}},
    {"guardrail.tool_pattern",
     {"Tool not allowed", "the tool's name fits a wildcard of the check"},
     {"Інструмент не дозволено", "назва інструмента відповідає масці перевірки"}},
    {"guardrail.holdback_limit",
     {"Too much held back", "an undecided match grew over max_hold_bytes"},
     {"Затримано забагато", "невирішений збіг перевищив max_hold_bytes"}},
    {"guardrail.decode_limit",
     {"Too much to decode", "encoded text in a stream was longer than what is decoded"},
     {"Забагато для декодування", "закодований текст у потоці довший за межу декодування"}},
    {"guardrail.engine_error",
     {"Guardrail failed", "the check could not be carried out, so nothing passes"},
     {"Збій перевірки", "перевірку не вдалося виконати, тому нічого не проходить"}},
};

template <std::size_t size>
std::optional<Name> find(const Row (&rows)[size], std::string_view code, Locale locale) {
  for (const Row& row : rows) {
    if (row.code == code) return locale == Locale::Ukrainian ? row.ukrainian : row.english;
  }
  return std::nullopt;
}

}  // namespace

Locale locale_named(std::string_view name) {
  const std::string_view language = name.substr(0, name.find_first_of("-_."));
  return language == "uk" ? Locale::Ukrainian : Locale::English;
}

Name name_of(Stage stage, Locale locale) {
  return *find(kStageNames, to_string(stage), locale);
}

Name name_of(CheckType type, Locale locale) {
  return *find(kTypeNames, to_string(type), locale);
}

Name name_of(Action action, Locale locale) {
  return *find(kActionNames, to_string(action), locale);
}

Capability capability(Locale locale) {
  if (locale == Locale::Ukrainian) {
    return {"guardrails", "Запобіжники",
            "перевіряє запити, відповіді, виклики інструментів і їхні результати за правилами та "
            "блокує, вилучає або записує знайдене",
            "Безпека", "shield-check"};
  }
  return {"guardrails", "Guardrails",
          "checks prompts, answers, tool calls and tool results against rules, and blocks, redacts "
          "or logs what it finds",
          "Safety", "shield-check"};
}

json::object names_json(Locale locale) {
  const Capability all = capability(locale);
  const auto list = [&](const auto& rows) {
    json::array names;
    for (const Row& row : rows) {
      const Name& name = locale == Locale::Ukrainian ? row.ukrainian : row.english;
      names.push_back(
          json::object{{"code", row.code}, {"name", name.name}, {"description", name.description}});
    }
    return names;
  };
  return {{"capability", json::object{{"id", all.id},
                                      {"name", all.name},
                                      {"description", all.description},
                                      {"category", all.category},
                                      {"icon", all.icon}}},
          {"stages", list(kStageNames)},
          {"types", list(kTypeNames)},
          {"actions", list(kActionNames)},
          {"reason_codes", list(kReasonNames)}};
}

}  // namespace sallyport::guardrails
