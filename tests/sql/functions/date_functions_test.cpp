#include "sql/functions/date_time.h"
#include "tests/sql/functions/call.h"

namespace quire::sql {
namespace {

TEST(DateTime, IsReadInItsFormsAndNoOther) {
  for (const char* text :
       {"2024-12-12", "2024-12-12Z", "2024-12-12 20:21:25", "2024-12-12T20:21:25Z", "2024-12-12T20:21:25.1",
        "2024-12-12 20:21:25.1234567Z", "2024-02-29", "0001-01-01", "9999-12-31T23:59:59.9999999Z"})
    EXPECT_EQ(call("IS_DATETIME", {'"' + std::string(text) + '"'}), "true") << text;
  for (const char* text : {"",
                           "2024",
                           "2024-12",
                           "2024-1-12",
                           "2024-12-12T",
                           "2024-12-12T20Z",
                           "2024-12-12T20:21Z",
                           "2024-12-12 20:21:25.",
                           "2024-12-12 20:21:25.12345678",
                           "2024-12-12T20:21:25+01:00",
                           "2023-02-29",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-01-00",
                           "2024-01-32",
                           "0000-01-01",
                           "2024-12-12T24:00:00",
                           "2024-12-12T00:60:00",
                           "2024-12-12T00:00:60",
                           "2024-12-12ZZ",
                           "2024-12-12 ",
                           " 2024-12-12",
                           "x024-12-12",
                           "2024-12-12t20:21:25"})
    EXPECT_EQ(call("IS_DATETIME", {'"' + std::string(text) + '"'}), "false") << text;
}

TEST(DateTime, RoundTripsAtItsBounds) {
  Arena arena;
  EXPECT_EQ(text_of(print_date_time(kFirstTicks, arena)), R"("0001-01-01T00:00:00.0000000Z")");
  EXPECT_EQ(text_of(print_date_time(kEndTicks - 1, arena)), R"("9999-12-31T23:59:59.9999999Z")");
  EXPECT_EQ(text_of(print_date_time(kEndTicks, arena)), "undefined");
  EXPECT_EQ(text_of(print_date_time(kFirstTicks - 1, arena)), "undefined");
  EXPECT_EQ(parse_date_time("0001-01-01"), kFirstTicks);
  for (Ticks ticks = kFirstTicks; ticks < kEndTicks; ticks += 977 * kTicksPerDay + 12'345'678'901)
    EXPECT_EQ(to_ticks(to_date_time(ticks)), ticks);
}

TEST(DateFunctions, Add) {
  const std::string date = R"("2020-01-31T10:00:00.1234567Z")";
  expect_all({
      {"DATETIMEADD", {R"("yyyy")", "1", date}, R"("2021-01-31T10:00:00.1234567Z")"},
      {"DATETIMEADD", {R"("mm")", "1", date}, R"("2020-02-29T10:00:00.1234567Z")"},
      {"DATETIMEADD", {R"("Month")", "-2", date}, R"("2019-11-30T10:00:00.1234567Z")"},
      {"DATETIMEADD", {R"("dd")", "1.9", date}, R"("2020-02-01T10:00:00.1234567Z")"},
      {"DATETIMEADD", {R"("hh")", "-11", date}, R"("2020-01-30T23:00:00.1234567Z")"},
      {"DATETIMEADD", {R"("mi")", "1", date}, R"("2020-01-31T10:01:00.1234567Z")"},
      {"DATETIMEADD", {R"("ns")", "250", date}, R"("2020-01-31T10:00:00.1234569Z")"},
      {"DATETIMEADD", {R"("week")", "1", date}, "undefined"},
      {"DATETIMEADD", {R"("yyyy")", "8000", date}, "undefined"},
      {"DATETIMEADD", {R"("yyyy")", "1e300", date}, "undefined"},
      {"DATETIMEADD", {R"("mm")", "9223372036854775807", date}, "undefined"},
      {"DATETIMEADD", {R"("dd")", "9223372036854775807", date}, "undefined"},
      {"DATETIMEADD", {R"("ns")", "-9223372036854775808", date}, R"("1727-10-22T10:12:43.2686809Z")"},
      {"DATETIMEADD", {R"("dd")", "1", R"("yesterday")"}, "undefined"},
  });
}

TEST(DateFunctions, DifferenceCountsBoundaries) {
  const std::string a = R"("2018-03-05T05:00:00.0000000")";
  const std::string b = R"("2019-02-04T16:00:00.0000000")";
  expect_all({
      {"DATETIMEDIFF", {R"("yyyy")", a, b}, "1"},
      {"DATETIMEDIFF", {R"("mm")", a, b}, "11"},
      {"DATETIMEDIFF", {R"("dd")", a, b}, "336"},
      {"DATETIMEDIFF", {R"("hh")", b, a}, "-8075"},
      {"DATETIMEDIFF", {R"("year")", R"("2019-12-31T23:59:59")", R"("2020-01-01")"}, "1"},
      {"DATETIMEDIFF", {R"("day")", R"("1969-12-31T23:59:59")", R"("1970-01-01")"}, "1"},
      {"DATETIMEDIFF", {R"("ns")", R"("2020-01-01")", R"("2020-01-01T00:00:00.0000003")"}, "300"},
      {"DATETIMEDIFF", {R"("ns")", R"("0001-01-01")", R"("9999-12-31")"}, "315537811200000000000"},
      {"DATETIMEDIFF", {R"("x")", a, b}, "undefined"},
      {"DATETIMEDIFF", {R"("dd")", a, R"("2019-02-30")"}, "undefined"},
  });
}

TEST(DateFunctions, Parts) {
  const std::string date = R"("2016-05-29T08:30:45.1301617")";
  expect_all({
      {"DATETIMEPART", {R"("yyyy")", date}, "2016"},
      {"DATETIMEPART", {R"("m")", date}, "5"},
      {"DATETIMEPART", {R"("d")", date}, "29"},
      {"DATETIMEPART", {R"("hh")", date}, "8"},
      {"DATETIMEPART", {R"("n")", date}, "30"},
      {"DATETIMEPART", {R"("s")", date}, "45"},
      {"DATETIMEPART", {R"("ms")", date}, "130"},
      {"DATETIMEPART", {R"("mcs")", date}, "130161"},
      {"DATETIMEPART", {R"("ns")", date}, "130161700"},
      {"DATETIMEPART", {R"("")", date}, "undefined"},
      {"DAY", {date}, "29"},
      {"MONTH", {date}, "5"},
      {"YEAR", {R"("2016")"}, "undefined"},
  });
}

TEST(DateFunctions, Bins) {
  const std::string date = R"("2021-01-08T18:35:00")";
  expect_all({
      {"DATETIMEBIN", {date, R"("dd")"}, R"("2021-01-08T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("hh")", "5"}, R"("2021-01-08T15:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("dd")", "7", R"("1601-01-01")"}, R"("2021-01-04T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("mm")"}, R"("2021-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("mm")", "5"}, R"("2020-11-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("mm")", "1", R"("2020-01-15")"}, R"("2020-12-15T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("yyyy")", "10"}, R"("2020-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {R"("1969-06-01")", R"("yyyy")"}, R"("1969-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN",
       {R"("2020-01-01T00:00:00.0000019")", R"("ns")", "500"},
       R"("2020-01-01T00:00:00.0000015Z")"},
      {"DATETIMEBIN", {date, R"("dd")", "0"}, "undefined"},
      {"DATETIMEBIN", {date, R"("dd")", "-1"}, "undefined"},
      {"DATETIMEBIN", {date, R"("dd")", "1.5"}, "undefined"},
      {"DATETIMEBIN", {date, R"("dd")", "9223372036854775807"}, R"("1970-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("ss")", "1e300"}, R"("1970-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("mm")", "1e19", R"("1601-01-01")"}, R"("1601-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("yyyy")", "1e19"}, R"("1970-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {R"("1969-12-31")", R"("ss")", "1e19"}, "undefined"},
      {"DATETIMEBIN", {R"("1969-12-31")", R"("yyyy")", "1e19"}, "undefined"},
      {"DATETIMEBIN", {date, R"("dd")", "-1e19"}, "undefined"},
      {"DATETIMEBIN", {date, R"("ns")", "9223372036854775807"}, R"("1970-01-01T00:00:00.0000000Z")"},
      {"DATETIMEBIN", {date, R"("dd")", "1", R"("1600-12-31")"}, "undefined"},
      {"DATETIMEBIN", {R"("2021-13-01")", R"("dd")"}, "undefined"},
  });
}

TEST(DateFunctions, FromPartsAndNumbers) {
  expect_all({
      {"DATETIMEFROMPARTS", {"2017", "4", "20"}, R"("2017-04-20T00:00:00.0000000Z")"},
      {"DATETIMEFROMPARTS",
       {"2017", "4", "20", "13", "15", "20", "3456789"},
       R"("2017-04-20T13:15:20.3456789Z")"},
      {"DATETIMEFROMPARTS", {"-2000", "-1", "-1"}, "undefined"},
      {"DATETIMEFROMPARTS", {"2017", "2", "29"}, "undefined"},
      {"DATETIMEFROMPARTS", {"2017", "260", "1"}, "undefined"},
      {"DATETIMEFROMPARTS", {"9223372036854775807", "1", "1"}, "undefined"},
      {"DATETIMEFROMPARTS", {"2017", "1", "1", "0", "0", "0", "10000000"}, "undefined"},
      {"DATETIMETOTICKS", {R"("2015-05-19T12:00:00")"}, "14320368000000000"},
      {"DATETIMETOTICKS", {R"("9999-12-31")"}, "2534022144000000000"},
      {"DATETIMETOTIMESTAMP", {R"("1969-12-31T23:59:59.9999")"}, "-1"},
      {"TICKSTODATETIME", {"15973607943002652"}, R"("2020-08-13T23:19:54.3002652Z")"},
      {"TICKSTODATETIME", {"9223372036854775807"}, "undefined"},
      {"TICKSTODATETIME", {"Infinity"}, "undefined"},
      {"TIMESTAMPTODATETIME", {"-11644473600000"}, R"("1601-01-01T00:00:00.0000000Z")"},
      {"TIMESTAMPTODATETIME", {"9223372036854775807"}, "undefined"},
      {"TIMESTAMPTODATETIME", {R"("0")"}, "undefined"},
  });
}

TEST(DateFunctions, Format) {
  const auto format = [](std::string_view pattern) {
    return call("DATETIMEFORMAT", {R"("2024-10-06 04:05:07.1200")", '"' + std::string(pattern) + '"'});
  };
  EXPECT_EQ(format("yyyyMMdd"), R"("20241006")");
  EXPECT_EQ(format("d/M/yy H:m:s"), R"("6/10/24 4:5:7")");
  EXPECT_EQ(format("dddd, dd MMMM yyyy hh:mm tt"), R"("Sunday, 06 October 2024 04:05 AM")");
  EXPECT_EQ(format("ddd MMM t"), R"("Sun Oct A")");
  EXPECT_EQ(format("ss.fff"), R"("07.120")");
  EXPECT_EQ(format("ss.FFF"), R"("07.12")");
  EXPECT_EQ(format("To\\\\da\\\\y 'is' \\\"the d\\\"d"), R"("Today is the d6")");
  EXPECT_EQ(format("HHzzz K yyyyyy"), R"("04+00:00 Z 002024")");
  EXPECT_EQ(format("%d"), R"("6")");
  EXPECT_EQ(format("%dddd"), R"("6Sun")");
  EXPECT_EQ(format("%HH %M %'x' %%"), "undefined");
  EXPECT_EQ(format("%HHH %M %'x'"), R"("404 10 x")");
  EXPECT_EQ(format(""), R"("")");
  EXPECT_EQ(format("'open"), "undefined");
  EXPECT_EQ(format("a\\\\"), "undefined");
  EXPECT_EQ(format("%"), "undefined");
  EXPECT_EQ(format("ffffffff"), "undefined");
  EXPECT_EQ(call("DATETIMEFORMAT", {R"("2024-10-06")", R"(".FFF")"}), R"(".")");
  EXPECT_EQ(call("DATETIMEFORMAT", {R"("2024-10-06 12:00:00")", R"("h tt")"}), R"("12 PM")");
  EXPECT_EQ(call("DATETIMEFORMAT", {R"("soon")", R"("d")"}), "undefined");
}

TEST(ClockFunctions, StaticOnesGiveTheStatementsTime) {
  Arena arena;
  const StatementClock clock{14'320'368'000'000'000};
  CallContext context{arena, nullptr, &clock};
  const auto ask = [&](std::string_view name, std::vector<Value> arguments = {}) {
    return text_of(call_function(*find_function(name), context, arguments));
  };
  EXPECT_EQ(ask("GETCURRENTDATETIMESTATIC"), R"("2015-05-19T12:00:00.0000000Z")");
  EXPECT_EQ(ask("GETCURRENTTICKSSTATIC"), "14320368000000000");
  EXPECT_EQ(ask("GETCURRENTTIMESTAMPSTATIC"), "1432036800000");
  EXPECT_EQ(ask("NOW"), R"("2015-05-19T12:00:00.0000000Z")");
  EXPECT_EQ(ask("NOW", {Value::string("dd"), Value::integer(1)}), R"("2015-05-20T12:00:00.0000000Z")");
  EXPECT_EQ(ask("AGO", {Value::string("mm"), Value::integer(3)}), R"("2015-02-19T12:00:00.0000000Z")");
  EXPECT_EQ(ask("AGO", {Value::string("mm"), Value::integer(INT64_MIN)}), "undefined");
  EXPECT_EQ(find_function("NOW")->volatility, Volatility::per_statement);
}

TEST(ClockFunctions, OthersLookAtTheClock) {
  EXPECT_GT(std::stoll(call("GETCURRENTTIMESTAMP", {})), 1'700'000'000'000);
  EXPECT_GT(std::stoll(call("GETCURRENTTICKS", {})), 17'000'000'000'000'000);
  EXPECT_EQ(call("GETCURRENTDATETIME", {}).size(),
            std::string_view(R"("2015-05-19T12:00:00.0000000Z")").size());
  EXPECT_EQ(find_function("GETCURRENTTICKS")->volatility, Volatility::per_row);
}

}  // namespace
}  // namespace quire::sql
