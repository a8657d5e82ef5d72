// Numbers of property names, and a name made ready for look-up. Apart from key_dictionary.h so that value.h
// can inline the look-up without knowing how a dictionary is kept.
#pragma once

#include <cstdint>
#include <string_view>

namespace quire::sql {

// Names a key dictionary of this process (key_dictionary.h); 0 names none.
using DictionaryNumber = uint16_t;

using KeyNumber = uint16_t;
// In a document, in place of a number: the name stands inline before the value.
inline constexpr KeyNumber kInlineKey = 0xFFFF;

// A property name made ready for look-up in documents of one dictionary: `c.a.b` resolves its names once per
// execution, not per row. In an object of another dictionary, or a built one, the name itself is compared.
struct ResolvedKey {
  std::string_view name;
  DictionaryNumber dictionary = 0;
  KeyNumber number = kInlineKey;
  // False: the dictionary does not know the name, so only inline names can match.
  bool is_known = false;
};

// Resolves `name`, which must outlive the result, against `dictionary` (0: none).
ResolvedKey resolve_key(std::string_view name, DictionaryNumber dictionary);

}  // namespace quire::sql
