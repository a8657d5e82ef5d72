#include "engine/query/advise_statement.h"

#include "engine/advisor/advisor.h"
#include "engine/query/snapshot_source.h"

namespace quire::engine {
namespace {

Result<std::unique_ptr<SnapshotSource>> begin(OpenContainers& containers, const AdviseRequest& request) {
  if (request.transaction.transaction != nullptr)
    return std::make_unique<SnapshotSource>(containers, request.scope, request.transaction.openings,
                                            *request.transaction.transaction);
  return SnapshotSource::begin(containers, request.scope);
}

// A source that knows all containers of its snapshot, since references may lead to any of them.
Result<std::unique_ptr<SnapshotSource>> begin_over_all(OpenContainers& containers,
                                                       const AdviseRequest& request) {
  for (int starts = 0; starts < SnapshotSource::kMostStarts; ++starts) {
    QUIRE_ASSIGN(auto source, begin(containers, request));
    for (const std::string& name : source->collection_names()) source->collection(name);
    if (source->error()) return std::unexpected(*source->error());
    if (!source->is_outdated()) return source;
    if (request.transaction.transaction != nullptr)
      return fail(ErrorCode::misuse, "a container was made after BEGIN: COMMIT or ROLLBACK first");
  }
  return fail(ErrorCode::busy, "containers were made and opened all the time; try again");
}

}  // namespace

Result<std::vector<std::string>> run_advise(OpenContainers& containers, const Workload& workload,
                                            const AdviseRequest& request) {
  QUIRE_ASSIGN(const auto source, begin_over_all(containers, request));
  const std::string name(request.scope != nullptr ? request.scope->definition().name : request.container);
  sql::Collection* const collection = source->collection(name);
  if (source->error()) return std::unexpected(*source->error());
  if (collection == nullptr) {
    NearestName nearest(name);
    for (const std::string& known : source->collection_names()) nearest.offer(known);
    return fail(ErrorCode::container_not_found, "there is no container '" + name + "'" + nearest.hint());
  }
  const std::vector<QueryShape> queries = workload.shapes_of(name);
  AdviseOptions options;
  options.item_limit = source->store(name)->definition().item_limit_bytes;
  options.queries = queries;
  options.work = request.work;
  return advise(*source, *collection, options);
}

}  // namespace quire::engine
