// What queries of several containers do: joins by key, by index and row by row, rows that are kept by key,
// lists and unions of subqueries, orders that go through joins. `many` has so many items that its index is
// worth it; `items` and `others` have those of scripted_work.cpp.
#pragma once

#include <cstddef>
#include <string_view>

namespace quire::tests {

inline constexpr const char* kMakeMany =
    "CREATE CONTAINER IF NOT EXISTS many PARTITION KEY (/k) WITH {indexingPolicy: {includedPaths: [{path: "
    "'/m/?'}], excludedPaths: [{path: '/*'}]}}";
// 1,024 items: of k = 1 to 32, by m = k || 10 to 41.
inline constexpr const char* kFillMany =
    "UPSERT INTO many SELECT VALUE {id: k || n, k: k, m: StringToNumber(k || n), text: 'a lamp'} FROM k IN "
    "StringSplit('1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32', "
    "',') JOIN n IN "
    "StringSplit('10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,"
    "40,41', "
    "',')";

struct CountedQuery {
  std::string_view sql;
  size_t rows;
};

inline constexpr CountedQuery kQueriesOfSeveral[] = {
    {"SELECT o.id, m.text FROM others o JOIN many m ON m.m = o.n + 110 AND m.text > 'a'", 4},
    {"SELECT o.id, m.text FROM others o LEFT JOIN many m ON m.id = o.id || '15' AND m.k = o.id AND m.text > "
     "'a'",
     4},
    {"SELECT o.id, m.text FROM others o JOIN many m ON m.id = o.id || '15'", 3},
    {"SELECT o.id, m.id AS m FROM others o LEFT JOIN many m ON m.m > o.n + 110 AND m.m <= o.n + 112 AND "
     "m.text > o.id WHERE o.k = 'a' AND o.id = '2'",
     2},
    {"SELECT VALUE m.id FROM others o JOIN many m ON o.k = 'b' AND m.m = o.n + 310", 2},
    {"SELECT VALUE m.id FROM many m WHERE m.m IN (SELECT VALUE o.n + 210 FROM others o)", 4},
    {"SELECT VALUE m.id FROM many m WHERE m.k = '2' AND m.id IN (SELECT VALUE '2' || ToString(o.n + 10) FROM "
     "others o)",
     4},
    {"SELECT VALUE o.id FROM others o WHERE EXISTS(SELECT 1 FROM many m WHERE m.k || '' = o.id)", 3},
    {"SELECT o.id, ARRAY(SELECT TOP 2 VALUE m.id FROM many m WHERE m.k || '' = o.id ORDER BY m.text DESC) AS "
     "ids FROM others o",
     4},
    {"SELECT o.id, ARRAY(SELECT VALUE m.id FROM many m WHERE m.m = o.n + 110 UNION SELECT VALUE o.n UNION "
     "ALL SELECT VALUE i.n FROM items i WHERE i.id = o.id) AS all FROM others o",
     4},
    {"SELECT TOP 3 m.id, o.n FROM many m JOIN others o ON o.id = m.k AND o.k = 'b' ORDER BY m.m DESC", 3},
    {"SELECT m.id, o.n FROM many m LEFT JOIN others o ON o.id = m.k AND o.n > 2 ORDER BY m.m OFFSET 5 LIMIT "
     "3",
     3},
    {"SELECT m.k, COUNT(1) AS n, MAX(m.text || o.id) AS t FROM many m JOIN others o ON o.id = m.k GROUP BY "
     "m.k",
     3},
    {"SELECT DISTINCT VALUE m.text || o.id FROM others o JOIN many m ON m.k = o.id ORDER BY m.text || o.id",
     3},
    {"SELECT o.id, x FROM others o JOIN x IN StringSplit(o.id || ',b', ',')", 8},
};

}  // namespace quire::tests
