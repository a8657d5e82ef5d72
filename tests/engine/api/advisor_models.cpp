#include "tests/engine/api/advisor_models.h"

#include <fmt/format.h>

namespace quire::tests {
namespace {

using Containers = std::vector<ModelContainer>;
using Items = std::vector<std::string>;

std::string definition(std::string_view name, std::string_view key = "") {
  return key.empty() ? fmt::format(R"({{"id":"{}"}})", name)
                     : fmt::format(R"({{"id":"{}","partitionKey":{{"paths":["{}"]}}}})", name, key);
}

Items make_items(int count, const std::function<std::string(int)>& make) {
  Items items;
  for (int i = 0; i < count; ++i) items.push_back(make(i));
  return items;
}

// The elements joined to an array.
std::string array(int count, const std::function<std::string(int)>& make) {
  std::string json = "[";
  for (int i = 0; i < count; ++i) json += (i == 0 ? "" : ",") + make(i);
  return json + "]";
}

// A day of 2024, and a time of it.
std::string day(int number) {
  return fmt::format("2024-{:02}-{:02}", number / 28 % 12 + 1, number % 28 + 1);
}
std::string time_of_day(int number, int second) {
  return fmt::format("{}T{:02}:{:02}:00Z", day(number), second / 60 % 24, second % 60);
}

std::string_view city(int number) {
  static constexpr std::string_view kCities[] = {"Lyon",   "Turin", "Graz", "Gdansk", "Porto",
                                                 "Bergen", "Brno",  "Cork", "Ghent",  "Basel",
                                                 "Leeds",  "Malmo", "Varna"};
  return kCities[static_cast<size_t>(number) % std::size(kCities)];
}

// Numbers that look drawn, the same each time.
int mixed(int number) {
  return static_cast<int>((static_cast<unsigned>(number) * 2654435761U) >> 8 & 0xFFFFF);
}

// ---- Badly modelled, each in one way

Containers posts_with_comments() {
  return {{definition("posts"), make_items(60, [](int i) {
             return fmt::format(R"({{"id":"p{}","title":"Post {}","comments":{}}})", i, i,
                                array(2 + i * 4, [](int c) {
                                  return fmt::format(R"({{"at":"{}","by":"u{}","text":"comment number {}"}})",
                                                     time_of_day(c, c), mixed(c) % 5000, c);
                                }));
           })}};
}

Containers profiles_that_grow_with_age() {
  return {{definition("profiles"), make_items(80, [](int i) {
             return fmt::format(
                 R"({{"id":"u{}","createdAt":"{}","logins":{}}})", mixed(i), day(i * 4),
                 array(2 + (80 - i), [](int l) { return fmt::format("\"10.0.{}.{}\"", l, mixed(l) % 256); }));
           })}};
}

Containers groups_with_members() {
  return {{definition("groups"), make_items(60, [](int i) {
             return fmt::format(R"({{"id":"g{}","name":"Group {}","members":{}}})", mixed(i), i,
                                array(i == 7 ? 3000 : 3 + mixed(i) % 9,
                                      [](int m) { return fmt::format("{}", mixed(m) + 11); }));
           })}};
}

Containers employees_with_photos(int photo_bytes) {
  return {{definition("employees"), make_items(40, [=](int i) {
             return fmt::format(
                 R"({{"id":"e{}","name":"Employee {}","city":"{}","photo":{{"type":"jpeg","data":"{}"}}}})",
                 i, i, city(i), std::string(static_cast<size_t>(photo_bytes), 'x'));
           })}};
}

Containers reports_near_the_limit() {
  return {{R"({"id":"reports","itemLimit":65536})", make_items(100, [](int i) {
             return fmt::format(R"({{"id":"r{}","title":"Report {}","body":"{}"}})", i, i,
                                std::string(i % 60 == 7 ? 55'000 : 300, 'b'));
           })}};
}

Containers deep_trees() {
  return {{definition("trees"), make_items(5, [](int i) {
             std::string tree = "1";
             for (int depth = 0; depth < 100 + i; ++depth) tree = R"({"child":)" + tree + "}";
             return fmt::format(R"({{"id":"t{}","tree":{}}})", i, tree);
           })}};
}

Containers long_ids() {
  return {{definition("pages"), make_items(5, [](int i) {
             return fmt::format(R"({{"id":"{}{}","hits":{}}})", std::string(950, 'a'), i, mixed(i));
           })}};
}

// Orders with a copy of their customer. Every `stale`th copy was left behind by a change of address.
Items orders(int count, int stale) {
  return make_items(count, [=](int i) {
    const int customer = mixed(i) % 30;
    const bool is_stale = stale != 0 && i % stale == stale - 1;
    return fmt::format(
        R"({{"id":"o{}","customerId":"c{}","placed":"{}","customer":{{"id":"c{}","name":"Customer {}","street":"{} Street {}"}},"lines":{}}})",
        i, customer, day(i), customer, customer, is_stale ? "Old" : "New", customer,
        array(1 + i % 4, [i](int l) {
          return fmt::format(R"({{"productId":"p{}","quantity":{},"price":{}.5}})", mixed(i + l) % 20,
                             1 + mixed(i * 7 + l) % 5, mixed(i + l) % 20);
        }));
  });
}
Items customers(int count) {
  return make_items(count, [](int i) {
    return fmt::format(R"({{"id":"c{}","name":"Customer {}","since":"{}"}})", i, i, day(i));
  });
}
Items products() {
  return make_items(
      20, [](int i) { return fmt::format(R"({{"id":"p{}","name":"Product {}","price":{}.5}})", i, i, i); });
}
Containers orders_with_copies(int stale) {
  return {{definition("orders", "/customerId"), orders(300, stale)},
          {definition("customers"), customers(30)},
          {definition("products"), products()}};
}

Containers tickets_with_flat_copies() {
  return {{definition("tickets"), make_items(200, [](int i) {
             const int agent = mixed(i) % 25;
             return fmt::format(R"({{"id":"t{}","agentId":"a{}","agentName":"Agent {}{}","opened":"{}"}})", i,
                                agent, agent, i % 12 == 5 ? " (married name)" : "", day(i));
           })}};
}

Containers visits_of_missing_people() {
  return {{definition("visits"), make_items(100,
                                            [](int i) {
                                              return fmt::format(
                                                  R"({{"id":"v{}","personId":"{}","at":"{}"}})", i,
                                                  mixed(i) % 40, time_of_day(i, i));
                                            })},
          {definition("people"),
           make_items(33, [](int i) { return fmt::format(R"({{"id":"{}","name":"Person {}"}})", i, i); })}};
}

Containers students_of_missing_courses() {
  return {{definition("students"),
           make_items(40,
                      [](int i) {
                        return fmt::format(
                            R"({{"id":"s{}","name":"Student {}","courses":{}}})", i, i,
                            array(3, [i](int c) { return fmt::format("\"course-{}\"", (i + c * 5) % 20); }));
                      })},
          {definition("courses"),
           make_items(18, [](int i) { return fmt::format(R"({{"id":"course-{}","points":{}}})", i, i); })}};
}

Containers jobs_by_status() {
  return {{definition("jobs", "/status"), make_items(300, [](int i) {
             return fmt::format(R"({{"id":"j{}","status":"{}","worker":"w{}"}})", i,
                                i % 2 == 0 ? "open" : "done", mixed(i) % 40);
           })}};
}

Containers events_of_one_large_tenant() {
  return {{definition("events", "/tenant"), make_items(600, [](int i) {
             return fmt::format(R"({{"id":"e{}","tenant":"t{}","user":"u{}"}})", i,
                                i % 5 < 3 ? 0 : 1 + mixed(i) % 60, mixed(i) % 150);
           })}};
}

Containers items_without_their_key() {
  return {{definition("parcels", "/depot"), make_items(200, [](int i) {
             return i % 10 == 0 ? fmt::format(R"({{"id":"p{}","weight":{}}})", i, mixed(i) % 90)
                                : fmt::format(R"({{"id":"p{}","depot":"d{}","weight":{}}})", i, mixed(i) % 40,
                                              mixed(i) % 90);
           })}};
}

Containers logs_by_day() {
  return {{definition("logs", "/day"), make_items(400, [](int i) {
             return fmt::format(R"({{"id":"l{}","day":"{}","device":"d{}"}})", i, day(i / 10), mixed(i) % 50);
           })}};
}

Containers people_with_phone_ids() {
  return {{definition("people"),
           make_items(40,
                      [](int i) {
                        return fmt::format(
                            R"({{"id":"{}","name":"Person {}","phoneIds":{}}})", i, i,
                            array(1 + i % 3, [i](int p) { return fmt::format("\"ph-{}-{}\"", i, p); }));
                      })},
          {definition("phones"), [] {
             Items phones;
             for (int i = 0; i < 40; ++i)
               for (int p = 0; p <= i % 3; ++p)
                 phones.push_back(
                     fmt::format(R"({{"id":"ph-{}-{}","number":"+33 {}"}})", i, p, mixed(i * 3 + p)));
             return phones;
           }()}};
}

Containers contact_details_of_people() {
  return {{definition("contactDetail"),
           make_items(90,
                      [](int i) {
                        return fmt::format(
                            R"({{"id":"c{}","personId":"{}","kind":"{}","detail":"detail {}"}})", i, i % 40,
                            i % 2 == 0 ? "email" : "phone", mixed(i));
                      })},
          {definition("person"),
           make_items(40, [](int i) { return fmt::format(R"({{"id":"{}","name":"Person {}"}})", i, i); })}};
}

// ---- Modelled well

Containers library_of_two_types() {
  return {
      {definition("library", "/bookId"), make_items(120, [](int i) {
         const int book = i / 4;
         return i % 4 == 0
                    ? fmt::format(
                          R"({{"id":"b{}","type":"book","bookId":"b{}","title":"Book {}","pages":{}}})", book,
                          book, book, 100 + mixed(i) % 300)
                    : fmt::format(
                          R"({{"id":"r{}","type":"review","bookId":"b{}","stars":{},"text":"review {}"}})", i,
                          book, 1 + mixed(i) % 5, i);
       })}};
}

Containers readings_of_devices() {
  return {{definition("readings", "/deviceId"), make_items(600, [](int i) {
             return fmt::format(R"({{"id":"r{}","deviceId":"dev-{}","at":"{}","metric":"{}","value":{}.25}})",
                                i, i % 50, time_of_day(i / 50, i), i % 2 == 0 ? "temperature" : "humidity",
                                mixed(i) % 100);
           })}};
}

Containers products_with_tags() {
  return {
      {definition("products", "/category"), make_items(300, [](int i) {
         return fmt::format(
             R"({{"id":"p{}","category":"cat-{}","name":"Product {}","price":{}.99,"tags":{},"size":{{"width":{},"height":{}}}}})",
             i, mixed(i) % 40, i, mixed(i) % 500,
             array(1 + i % 4, [i](int t) { return fmt::format("\"tag{}\"", (i + t) % 12); }), mixed(i) % 60,
             mixed(i + 1) % 60);
       })}};
}

Containers users_with_addresses() {
  return {
      {definition("users"), make_items(200, [](int i) {
         return fmt::format(
             R"({{"id":"u{}","email":"u{}@example.com","name":"Name {}","addresses":{},"settings":{{"dark":{},"language":"{}"}}}})",
             i, i, mixed(i) % 30,
             array(1 + i % 3,
                   [i](int a) {
                     return fmt::format(R"({{"name":"{}","street":"Street {}","city":"{}"}})",
                                        a == 0 ? "home" : "work", mixed(i + a), city(i + a));
                   }),
             i % 3 == 0, i % 2 == 0 ? "en" : "fr");
       })}};
}

Containers passages_with_embeddings() {
  return {{definition("passages", "/document"), make_items(200, [](int i) {
             return fmt::format(
                 R"({{"id":"p{}","document":"doc-{}","text":"passage number {}","embedding":{}}})", i, i % 40,
                 i, array(64, [i](int e) { return fmt::format("0.{:05}", mixed(i * 64 + e) % 100'000); }));
           })}};
}

const std::vector<Model>& all_models() {
  static const std::vector<Model> models = {
      {"ArrayAppendedInOrderOfTime", posts_with_comments, {}, {"growing_array"}, "/comments", ""},
      {"ArrayLongerInOlderItems", profiles_that_grow_with_age, {}, {"growing_array"}, "/logins", ""},
      {"ArrayOutgrown", groups_with_members, {}, {"growing_array"}, "/members", ""},
      {"LargeSubdocumentThatNoQueryReads",
       [] { return employees_with_photos(4000); },
       {{"SELECT c.name FROM employees c WHERE c.city = 'Graz'", 30}},
       {"large_subdocument"},
       "/photo",
       "query_mix"},
      {"VeryLargeSubdocument",
       [] { return employees_with_photos(30'000); },
       {},
       {"large_subdocument"},
       "/photo",
       ""},
      {"LargeSubdocumentThatQueriesRead",
       [] { return employees_with_photos(30'000); },
       {{"SELECT c.name, c.photo FROM employees c WHERE c.id = 'e1'", 30}},
       {},
       "",
       "query_mix"},
      {"ItemsNearTheLimit", reports_near_the_limit, {}, {"near_item_limit"}, "", ""},
      {"NestingNearTheLimit", deep_trees, {}, {"near_nesting_limit"}, "", ""},
      {"IdsNearTheLimit", long_ids, {}, {"near_id_limit"}, "/id", ""},
      {"StaleCopiesOfASubdocument",
       [] { return orders_with_copies(15); },
       {},
       {"stale_copies"},
       "/customer",
       "references"},
      {"StaleCopiesBesideTheirReference", tickets_with_flat_copies, {}, {"stale_copies"}, "/agentName", ""},
      {"DanglingReferences", visits_of_missing_people, {}, {"dangling_references"}, "/personId", ""},
      {"DanglingIdsInAnArray", students_of_missing_courses, {}, {"dangling_references"}, "/courses/[]", ""},
      {"PartitionKeyOfFewValues", jobs_by_status, {}, {"partition_key_few_values"}, "/status", ""},
      {"OneLargePartition", events_of_one_large_tenant, {}, {"partition_key_skew"}, "/tenant", ""},
      {"ItemsWithoutThePartitionKey",
       items_without_their_key,
       {},
       {"partition_key_missing"},
       "/depot",
       "partition_key"},
      {"PartitionKeyThatIsADate", logs_by_day, {}, {"write_hot_spot"}, "/day", ""},
      {"FewChildrenByTheirIds", people_with_phone_ids, {}, {"better_embedded"}, "/phoneIds", ""},
      {"FewChildrenThatNameTheirParent", contact_details_of_people, {}, {"better_embedded"}, "/personId", ""},
      {"QueriesWithoutAnIndex",
       readings_of_devices,
       {{"SELECT * FROM readings c WHERE c.deviceId = 'dev-1' AND c['value'] > 10", 25},
        {"SELECT * FROM readings c WHERE c.metric = 'humidity' AND c['value'] = 3", 6}},
       {"query_without_index"},
       "",
       "queries_with_partition_key"},
      {"QueriesAcrossPartitions",
       products_with_tags,
       {{"SELECT VALUE c.id FROM products c WHERE STARTSWITH(LOWER(c.name), 'pro')", 25}},
       {"queries_across_partitions"},
       "",
       "query_mix"},
      {"TwoTypesInOneContainer", library_of_two_types, {}, {}, "", "types"},
      {"CleanReadings", readings_of_devices, {}, {}, "", "partition_key"},
      {"CleanProducts", products_with_tags, {}, {}, "", "partition_key"},
      {"CleanOrders", [] { return orders_with_copies(0); }, {}, {}, "", "references"},
      {"CleanUsers", users_with_addresses, {}, {}, "", ""},
      {"CleanVectors", passages_with_embeddings, {}, {}, "", "partition_key"},
  };
  return models;
}

}  // namespace

std::span<const Model> models() {
  return all_models();
}

}  // namespace quire::tests
