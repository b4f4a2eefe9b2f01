// A session store in a folder of one test, and the data that tests put into it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sessions/session_store.h"
#include "support/running_tasks.h"
#include "support/temp_folder.h"
#include "support/test_clock.h"

namespace sallyport::sessions {

using namespace std::chrono_literals;

inline NewItem text_item(const std::string& text, Role role = Role::User) {
  return {.role = role, .content = {json::object{{"type", "text"}, {"text", text}}}};
}

inline std::string text_of(const Item& item) {
  return std::string(item.content.at(0).at("text").as_string());
}

class StoreOnDisk : public ::testing::Test {
 protected:
  StoreOnDisk() : store_(open()) {}

  std::unique_ptr<SessionStore> open() {
    Result<std::unique_ptr<SessionStore>> opened = SessionStore::open({.file = file()}, clock_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }
  std::filesystem::path file() const { return folder_ / "agents.db"; }

  Lease lease(const std::string& session = "s-1", const std::string& instance = "i-1") {
    Result<Lease> taken = store_->take_lease(session, "writer", instance, 30s, {});
    EXPECT_TRUE(taken) << (taken ? "" : taken.error().message);
    return taken ? *taken : Lease{};
  }

  std::vector<std::string> lines(const std::string& session = "s-1") {
    std::vector<std::string> all;
    EXPECT_TRUE(store_->lines(session, [&](std::string_view line) -> Result<void> {
      all.emplace_back(line);
      return {};
    }));
    return all;
  }

  BackgroundTask task(const std::string& id) {
    return {.id = id, .run_id = "r-1", .call_id = "c-1", .trace_id = "t", .command = "sleep 1"};
  }

  test::TempFolder folder_;
  test::TestClock clock_;
  std::unique_ptr<SessionStore> store_;
};

template <class T>
std::string cause_of(const Result<T>& result) {
  return result ? "" : result.error().cause;
}

template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorCode::Internal : result.error().code;
}

}  // namespace sallyport::sessions
