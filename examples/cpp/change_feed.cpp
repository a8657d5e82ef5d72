// Follows a container's change feed: what there is, then what another thread writes; and goes on from a
// token.
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "quire/quire.hpp"

namespace {

int complain(const quire::Error& error) {
  std::cerr << error.name() << ": " << error.message << '\n';
  return 1;
}

}  // namespace

int main() {
  auto database = quire::Database::open(":memory:");
  if (!database) return complain(database.error());
  if (auto created = database->create_container(R"({"id":"orders","partitionKey":{"paths":["/customer"]}})");
      !created)
    return complain(created.error());
  auto orders = database->container("orders");
  if (!orders) return complain(orders.error());
  for (const char* order :
       {R"({"id":"1","customer":"ada","total":10})", R"({"id":"2","customer":"bo","total":20})"})
    if (auto written = orders->create(order); !written) return complain(written.error());

  auto feed = orders->feed();
  if (!feed) return complain(feed.error());
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    static_cast<void>(orders->upsert(R"({"id":"1","customer":"ada","total":15})"));
  });
  // Three changes: the last is waited for.
  int status = 0;
  for (int i = 0; i < 3 && status == 0; ++i) {
    auto change = feed->next(std::chrono::seconds(10));
    if (!change)
      status = complain(change.error());
    else if (*change)
      std::cout << (*change)->current()["id"].as_string() << ": "
                << (*change)->current()["total"].as_integer() << '\n';
  }
  writer.join();
  if (status != 0) return status;

  // Kept anywhere, a token goes on where this feed is.
  auto token = feed->token();
  if (!token) return complain(token.error());
  auto later = orders->feed({.start = quire::FeedStart::token(*token)});
  if (!later) return complain(later.error());
  auto change = later->next();
  if (!change) return complain(change.error());
  std::cout << (*change ? "more changes" : "nothing new") << '\n';
  return 0;
}
