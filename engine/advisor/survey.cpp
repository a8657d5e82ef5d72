#include "engine/advisor/survey.h"

#include <algorithm>
#include <array>

#include "sql/value/member_reader.h"

namespace quire::engine {
namespace {

constexpr size_t kBatch = 256;

// Properties that say when an item came to be, the surer ones first.
constexpr std::string_view kCreationNames[] = {
    "createdAt",   "created_at",   "created",     "createdOn", "created_on", "creationDate",
    "createdDate", "registeredAt", "registered",  "joinedAt",  "joined",     "postedAt",
    "postedOn",    "posted_on",    "publishedAt", "published", "openedAt",   "opened",
    "startedAt",   "started",      "orderedAt",   "date",      "timestamp",  "time"};

uint64_t bytes_of(const sql::Value& item) {
  return item.is_encoded() ? item.encoded_bytes().size() : 0;
}

// Calls `use` with each item of a collection, in key order.
template <typename Use>
Result<void> for_each_item(sql::Collection& collection, LongWork& work, const Use& use) {
  constexpr uint64_t kBytesOfOneStep = 1024;  // a large item takes as long as many small ones
  QUIRE_ASSIGN(const auto cursor, collection.open(sql::Access{}));
  std::array<sql::Value, kBatch> items;
  for (;;) {
    QUIRE_ASSIGN(const size_t count, cursor->next(items));
    if (count == 0) return {};
    for (const sql::Value& item : std::span(items).first(count)) {
      use(item);
      QUIRE_TRY(work.advance(1, 1 + bytes_of(item) / kBytesOfOneStep));
    }
  }
}

class Surveyor {
 public:
  Surveyor(sql::Collection& collection, const SurveyOptions& options, ContainerSurvey& found)
      : collection_(collection),
        found_(found),
        stride_(std::max<uint64_t>(1, (collection.item_count() + options.most_sampled_items - 1) /
                                          std::max<uint64_t>(1, options.most_sampled_items))),
        near_limit_(kNearLimit * static_cast<double>(options.item_limit)),
        id_(sql::resolve_key("id", collection.dictionary())) {
    found.container = collection.name();
    found.partitions = PartitionSurvey(collection.partition_key_paths(), collection.dictionary());
    for (const std::vector<std::string>& path : collection.partition_key_paths()) {
      std::string& text = found.partition_key_paths.emplace_back();
      for (const std::string& name : path) text += "/" + name;
    }
    for (const std::string_view name : kCreationNames)
      creation_.push_back(sql::resolve_key(name, collection.dictionary()));
  }

  void add(const sql::Value& item) {
    const uint64_t bytes = bytes_of(item);
    ++found_.items;
    found_.bytes.add(bytes);
    if (static_cast<double>(bytes) >= near_limit_) ++found_.items_near_limit;
    found_.partitions.add(item, bytes, written(item));
    note_largest(item, bytes);
    const sql::Value id = item.member(id_);
    if (id.is_string() && id.as_string().size() > found_.longest_id) {
      found_.longest_id = id.as_string().size();
      found_.item_with_longest_id = name_of(item);
    }
    if ((found_.items - 1) % stride_ == 0) look_into(item, bytes);
  }

 private:
  int64_t written(const sql::Value& item) {
    arena_.reset();
    const sql::Value time = collection_.system_property(item, sql::SystemProperty::ts, arena_);
    return time.kind() == sql::Kind::integer ? time.as_integer() : 0;
  }

  ItemName name_of(const sql::Value& item) {
    ItemName name;
    if (const sql::Value id = item.member(id_); id.is_string()) name.id = id.as_string();
    if (found_.partitions.has_key()) name.partition_key = partition_key_json(found_.partitions.key_of(item));
    return name;
  }

  void note_largest(const sql::Value& item, uint64_t bytes) {
    std::vector<LongArray>& largest = found_.largest;
    const auto place =
        std::ranges::find_if(largest, [&](const LongArray& other) { return other.bytes < bytes; });
    if (place == largest.end() && largest.size() >= kMostExamples) return;
    largest.insert(place, {name_of(item), 0, bytes, bytes, 0});
    if (largest.size() > kMostExamples) largest.pop_back();
  }

  void look_into(const sql::Value& item, uint64_t bytes) {
    ++found_.sampled_items;
    found_.sampled_bytes += static_cast<double>(bytes);
    WalkedItem walked{.root = item,
                      .number = found_.sampled_items,
                      .bytes = bytes,
                      .rid = collection_.document_id(item),
                      .created = std::nullopt,
                      .name = name_of(item)};
    for (const sql::ResolvedKey& key : creation_) {
      walked.created = time_of(item.member(key));
      if (walked.created) break;
    }
    found_.has_creation_times |= walked.created.has_value();
    PathVisitor* const visitors[] = {&found_.copies, &found_.references};
    found_.paths.add(walked, visitors);
    found_.shapes.add(walked);
  }

  sql::Collection& collection_;
  ContainerSurvey& found_;
  uint64_t stride_;
  double near_limit_;
  sql::ResolvedKey id_;
  std::vector<sql::ResolvedKey> creation_;
  sql::Arena arena_;
};

// Looks up what may be references among the ids of all containers.
Result<void> resolve_references(sql::Source& source, LongWork& work, ContainerSurvey& found) {
  if (found.references.is_empty()) return {};
  found.containers = source.collection_names();
  if (found.containers.size() > ReferenceSurvey::kMostContainers)
    found.containers.resize(ReferenceSurvey::kMostContainers);
  found.references.begin_resolving(found.containers.size());
  for (const std::string& name : found.containers)
    if (const sql::Collection* const collection = source.collection(name))
      work.expect(collection->item_count());
  for (size_t number = 0; number < found.containers.size(); ++number) {
    sql::Collection* const collection = source.collection(found.containers[number]);
    if (collection == nullptr) continue;
    const sql::ResolvedKey id = sql::resolve_key("id", collection->dictionary());
    QUIRE_TRY(for_each_item(*collection, work, [&](const sql::Value& item) {
      if (const sql::Value text = item.member(id); text.is_string())
        found.references.meet(number, text.as_string(), bytes_of(item));
    }));
  }
  return {};
}

}  // namespace

Result<ContainerSurvey> survey(sql::Source& source, sql::Collection& collection,
                               const SurveyOptions& options) {
  LongWork work(options.work, "the reading of the container was interrupted");
  work.expect(collection.item_count());
  ContainerSurvey found;
  Surveyor surveyor(collection, options, found);
  QUIRE_TRY(for_each_item(collection, work, [&](const sql::Value& item) { surveyor.add(item); }));
  found.partitions.finish();
  QUIRE_TRY(resolve_references(source, work, found));
  return found;
}

}  // namespace quire::engine
