#include "net/unix_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace sallyport::net {
namespace {

class PublicSocketTest : public testing::Test {
 protected:
  PublicSocketTest() { EXPECT_EQ(chmod(folder_.path().c_str(), 0755), 0); }

  test::TempFolder folder_;
};

TEST_F(PublicSocketTest, EveryUserMayConnectToItAndOnlyItsOwnerMayReplaceIt) {
  const Result<UnixName> name = UnixName::listen(folder_.path(), "x.sock", Reach::Public);
  ASSERT_TRUE(name) << name.error().message;
  struct stat status{};
  ASSERT_EQ(stat((folder_.path() / "x.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0666u);
  const Result<UnixSocket> socket = UnixSocket::connect_public(folder_.path(), "x.sock", geteuid());
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(socket->peer().uid, geteuid());
  EXPECT_EQ(socket->peer().pid, getpid());
}

TEST_F(PublicSocketTest, AListenerOfAnotherUserIsNotBelieved) {
  const Result<UnixName> name = UnixName::listen(folder_.path(), "x.sock", Reach::Public);
  ASSERT_TRUE(name);
  const Result<UnixSocket> socket =
      UnixSocket::connect_public(folder_.path(), "x.sock", geteuid() + 1);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, ErrorCode::Unauthenticated);
}

TEST_F(PublicSocketTest, AFolderThatOthersCanWriteIsRefusedByBothEnds) {
  const Result<UnixName> before = UnixName::listen(folder_.path(), "x.sock", Reach::Public);
  ASSERT_TRUE(before);
  for (const mode_t mode : {0775u, 0757u, 01777u}) {
    ASSERT_EQ(chmod(folder_.path().c_str(), mode), 0);
    const Result<UnixName> name = UnixName::listen(folder_.path(), "y.sock", Reach::Public);
    ASSERT_FALSE(name);
    EXPECT_EQ(name.error().code, ErrorCode::Unauthenticated);
    const Result<UnixSocket> socket =
        UnixSocket::connect_public(folder_.path(), "x.sock", geteuid());
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code, ErrorCode::Unauthenticated);
  }
}

TEST_F(PublicSocketTest, WhatIsNoSocketOfOursIsNotReplaced) {
  const int file = open((folder_.path() / "x.sock").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  close(file);
  const Result<UnixName> name = UnixName::listen(folder_.path(), "x.sock", Reach::Public);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, ErrorCode::Unauthenticated);
  EXPECT_EQ(access((folder_.path() / "x.sock").c_str(), F_OK), 0);
}

TEST_F(PublicSocketTest, APrivateSocketStaysPrivate) {
  const Result<UnixName> name = UnixName::listen(folder_.path(), "x.sock");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, ErrorCode::Unauthenticated);
}

}  // namespace
}  // namespace sallyport::net
