/* Quire from C: open a database, write items, ask a question. Usage: hello_c [FILE] */
#include <quire/quire.h>
#include <stdio.h>
#include <string.h>

static int failed(const quire_error* error) {
  fprintf(stderr, "%s: %s\n", quire_code_name(error->code), error->message);
  return 1;
}

int main(int argc, char** argv) {
  static const char definition[] = "{\"id\":\"cities\",\"partitionKey\":{\"paths\":[\"/country\"]}}";
  static const char lyon[] = "{\"id\":\"lyon\",\"country\":\"FR\",\"people\":522250}";
  static const char nice[] = "{\"id\":\"nice\",\"country\":\"FR\",\"people\":348085}";
  static const char sql[] = "SELECT c.id, c.people FROM c WHERE c.country = @country ORDER BY c.people DESC";
  quire_database* database;
  quire_container* cities;
  quire_statement* statement;
  quire_scalar france = {QUIRE_STRING, 0, 0, "FR", 2};
  quire_error error;
  int code;

  if (quire_open(argc > 1 ? argv[1] : ":memory:", NULL, &database, &error) != QUIRE_OK) return failed(&error);
  if (quire_container_create(database, definition, strlen(definition), &error) != QUIRE_OK)
    return failed(&error);
  if (quire_container_open(database, "cities", 6, &cities, &error) != QUIRE_OK) return failed(&error);
  if (quire_create(cities, NULL, lyon, strlen(lyon), NULL, &error) != QUIRE_OK) return failed(&error);
  if (quire_create(cities, NULL, nice, strlen(nice), NULL, &error) != QUIRE_OK) return failed(&error);

  if (quire_prepare_in(cities, sql, strlen(sql), &statement, &error) != QUIRE_OK) return failed(&error);
  if (quire_bind(statement, "country", france, &error) != QUIRE_OK) return failed(&error);
  while ((code = quire_step(statement, &error)) == QUIRE_ROW) {
    const char* json;
    size_t length;
    if (quire_row_json(statement, &json, &length, &error) != QUIRE_OK) return failed(&error);
    printf("%.*s\n", (int)length, json);
  }
  if (code != QUIRE_DONE) return failed(&error);

  quire_finalize(statement);
  quire_container_close(cities);
  return quire_close(database, &error) == QUIRE_OK ? 0 : failed(&error);
}
