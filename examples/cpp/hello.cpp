// Quire from C++20: open a database, write items, ask a question. Usage: hello_cpp [FILE]
#include <iostream>
#include <quire/quire.hpp>

static int failed(const quire::Error& error) {
  std::cerr << error.name() << ": " << error.message << '\n';
  return 1;
}

int main(int argc, char** argv) {
  auto database = quire::Database::open(argc > 1 ? argv[1] : ":memory:");
  if (!database) return failed(database.error());
  auto made = database->create_container(R"({"id":"cities","partitionKey":{"paths":["/country"]}})");
  if (!made) return failed(made.error());
  auto cities = database->container("cities");
  if (!cities) return failed(cities.error());

  for (const char* city :
       {R"({"id":"lyon","country":"FR","people":522250})", R"({"id":"nice","country":"FR","people":348085})"})
    if (auto created = cities->create(city); !created) return failed(created.error());

  auto statement = cities->prepare("SELECT * FROM c WHERE c.country = @country ORDER BY c.people DESC");
  if (!statement) return failed(statement.error());
  if (auto bound = statement->bind("country", "FR"); !bound) return failed(bound.error());
  for (quire::Value city : statement->rows())
    std::cout << city["id"].as_string() << " has " << city["people"].as_integer() << " people\n";
  if (statement->error()) return failed(*statement->error());
}
