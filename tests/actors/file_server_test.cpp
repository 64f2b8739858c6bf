// The file server as nodes meet it: an actor.
#include "gossamer/actors/fetch/served_files.hpp"
#include "gossamer/actors/node/file_server.hpp"
#include "gossamer/actors/node/interfaces.hpp"

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <gmock/gmock.h>

#include <variant>

#include "support/scratch_folder.hpp"

namespace gossamer::actors {
namespace {

using testing::HasSubstr;

class file_server : public testing::Test {
protected:
  ~file_server() override { caf::anon_send_exit(server_, caf::exit_reason::user_shutdown); }

  using said = std::variant<file_catalogue, piece, no_files>;
  template <class Question>
  static said ask(caf::scoped_actor& self, const caf::actor& server, const Question& question) {
    said answer;
    self->send(server, question);
    self->receive([&](file_catalogue& m) { answer = std::move(m); }, [&](piece& m) { answer = std::move(m); },
                  [&](no_files& m) { answer = std::move(m); });
    return answer;
  }
  template <class Question>
  said ask(const Question& question) {
    return ask(self_, server_, question);
  }

  test::scratch_folder folder_;
  std::string path_ = folder_.write("rows", "1,2\n");
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  caf::actor server_ = spawn_file_server(system_, [this] { return compute::data_files{{"train", path_}}; });
};

TEST_F(file_server, says_what_there_is_and_hands_it_out) {
  const auto files = checked(std::get<file_catalogue>(ask(catalogue_request{})));
  ASSERT_EQ(files.size(), 1u);
  const auto answer = std::get<piece>(ask(piece_request{{0, 0, 0}, 0}));
  EXPECT_EQ(answer.bytes, "1,2\n");
  EXPECT_NE(answer.receipt, 0u);
}

TEST_F(file_server, says_why_there_is_nothing) {
  EXPECT_THAT(std::get<no_files>(ask(piece_request{})).why, HasSubstr("which there is not"))
      << "nobody has asked which files there are";
  std::filesystem::remove(path_);
  EXPECT_THAT(std::get<no_files>(ask(catalogue_request{})).why, HasSubstr("cannot hand on '" + path_));
  folder_.write("rows", "3,4\n");
  caf::scoped_actor later{system_};
  EXPECT_EQ(std::get<file_catalogue>(ask(later, server_, catalogue_request{})).files[0].bytes, 4u);
}

TEST_F(file_server, sends_nobody_much_that_is_not_read) {
  ask(catalogue_request{});
  EXPECT_THAT(std::get<no_files>(ask(catalogue_request{})).why, HasSubstr("more than once"));
  std::uint64_t receipt = 0;
  for (std::size_t k = 0; k < unreceived::most; ++k)
    receipt = std::get<piece>(ask(piece_request{{0, 0, 0}, 0})).receipt;
  EXPECT_THAT(std::get<no_files>(ask(piece_request{{0, 0, 0}, 0})).why, HasSubstr("more than 64 pieces"));
  EXPECT_EQ(std::get<piece>(ask(piece_request{{0, 0, 0}, receipt})).bytes, "1,2\n");
  caf::scoped_actor other{system_};
  EXPECT_EQ(std::get<piece>(ask(other, server_, piece_request{{0, 0, 0}, 0})).bytes, "1,2\n");
}

struct speaking_config : caf::actor_system_config {
  speaking_config() {
    load<caf::io::middleman>();
    set("middleman.workers", std::size_t{0});
    add_control_messages(*this);
  }
};

/// CAF's broker may keep the notice that an actor known elsewhere has ended. No thread may wait for that.
TEST_F(file_server, ends_with_its_system_while_others_know_it) {
  for (int k = 0; k < 200; ++k) {
    speaking_config here, there;
    caf::actor_system asking{there};
    std::optional<caf::scoped_actor> self{asking};
    {
      caf::actor_system serving{here};
      const auto server = spawn_file_server(serving, [this] { return compute::data_files{{"train", path_}}; });
      const auto port = serving.middleman().publish(server, 0, "127.0.0.1");
      ASSERT_TRUE(port);
      const auto known = asking.middleman().remote_actor("127.0.0.1", *port);
      ASSERT_TRUE(known);
      EXPECT_TRUE(std::holds_alternative<file_catalogue>(ask(*self, *known, catalogue_request{})));
      caf::anon_send_exit(server, caf::exit_reason::user_shutdown);
    }
    self.reset();
  }
}

/// Returns the length of a serialised message. Expects the message to be the same when it has been read back.
template <class Message>
std::size_t size_of(Message sent) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  const auto written = [&](Message& m) {
    std::vector<char> bytes;
    caf::binary_serializer sink{system, bytes};
    EXPECT_FALSE(sink(m));
    return bytes;
  };
  Message received{};
  const auto bytes = written(sent);
  caf::binary_deserializer source{system, bytes};
  EXPECT_FALSE(source(received));
  EXPECT_EQ(bytes, written(received));
  return bytes.size();
}

TEST(file_messages, have_the_sizes_of_the_version_that_control_test_pins) {
  EXPECT_EQ(size_of(catalogue_request{}), 0u);
  EXPECT_EQ(size_of(file_catalogue{{{"train", 5, std::string(32, 'a'), std::string(32, '\0')}}}), 81u);
  EXPECT_EQ(size_of(piece_request{{1, 2, 3}, 4}), 24u);
  EXPECT_EQ(size_of(piece{{1, 2, 3}, 4, std::string(piece_bytes, 'x')}), 65'563u);
  EXPECT_EQ(size_of(no_files{"why"}), 4u);
}

} // namespace
} // namespace gossamer::actors
