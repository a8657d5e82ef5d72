#include "engine/catalog/script_seals.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/engine/file/temporary_folder.h"

namespace quire::engine {
namespace {

class MachineIdentityTest : public testing::Test {
 protected:
  static void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

  TemporaryFolder folder_;
  std::string machine_id_ = folder_.path("machine-id");
  std::string own_id_ = folder_.path("state/quire/machine-id");
};

TEST_F(MachineIdentityTest, IsTheMachinesWhereItHasOne) {
  write(machine_id_, "000102030405060708090a0b0c0d0e0f\n");
  const MachineIdentity identity = identity_from(machine_id_, own_id_);
  EXPECT_TRUE(identity.is_lasting);
  for (size_t i = 0; i < identity.key.size(); ++i) EXPECT_EQ(identity.key[i], i);
  EXPECT_FALSE(std::filesystem::exists(own_id_));
}

TEST_F(MachineIdentityTest, IsTheUsersOwnWhereTheMachineHasNone) {
  for (const char* const none : {"", "uninitialized\n", "00000000000000000000000000000000\n", "0001\n"}) {
    write(machine_id_, none);
    const MachineIdentity first = identity_from(machine_id_, own_id_);
    EXPECT_TRUE(first.is_lasting);
    EXPECT_EQ(identity_from(machine_id_, own_id_).key, first.key);
  }
  struct stat status;
  ASSERT_EQ(stat(own_id_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(MachineIdentityTest, LastsAsLongAsTheProcessWhereNoneCanBeKept) {
  write(folder_.path("state"), "a file where a folder should be");
  const MachineIdentity identity = identity_from(machine_id_, own_id_);
  EXPECT_FALSE(identity.is_lasting);
  EXPECT_NE(identity_from(machine_id_, own_id_).key, identity.key);
  EXPECT_FALSE(identity_from(machine_id_, "").is_lasting);
}

}  // namespace
}  // namespace quire::engine
