// Small pieces of memory that a call takes, one behind the other (cmake/adapt_module.cmake). The engine looks
// for room in its lists for each, and puts it back: an eighth of a call that makes and drops many objects.
#include <array>

#include "engine/script/engine_object.h"
#include "engine/script/sandbox_instance.h"

// Whether the generated code takes them so.
extern "C" const int quire_uses_pieces;

namespace quire::engine {
namespace {

constexpr uint32_t kHead = 8;
constexpr std::array<uint32_t, 14> kSizes = {1, 8, 9, 16, 17, 119, 120, 121, 137, 247, 248, 249, 281, 504};

static_assert(QUIRE_BYTES_OF_PIECE(QUIRE_LIST_OF_PIECE(QUIRE_LONGEST_PIECE)) == QUIRE_LONGEST_PIECE + kHead);

}  // namespace

void Sandbox::use_pieces(bool are_used) {
  constexpr uint32_t kRoom = QUIRE_PIECES_END - QUIRE_PIECES;
  EngineMemory(instance_->module).store(QUIRE_PIECES_LEFT, are_used && knows_pieces_ ? kRoom : 0);
}

// The engine's own pieces must be counted, and say which list they are of, as those that are taken so are;
// and what grows must keep what it holds, and give its old place back, which is none of the engine's.
void Sandbox::check_pieces() {
  w2c_qjs* const module = &instance_->module;
  const EngineMemory memory(*module);
  const auto head = [&](uint32_t piece) { return memory.load<uint32_t>(piece - kHead); };
  const auto used = [&] { return memory.load<uint32_t>(runtime_ + QUIRE_COUNTS + 4); };
  const auto count = [&] { return memory.load<uint32_t>(runtime_ + QUIRE_COUNTS); };
  const uint32_t used_before = used(), count_before = count();
  bool agree = quire_uses_pieces != 0;
  for (const uint32_t size : kSizes) {
    const uint32_t list = QUIRE_LIST_OF_PIECE(size), bytes = QUIRE_BYTES_OF_PIECE(list);
    const uint32_t of_engine = w2c_qjs_js_malloc_rt(module, runtime_, size);
    agree &= of_engine > QUIRE_PIECES_END && (head(of_engine) >> 16 & 0xFF) == list;
    agree &= used() == used_before + bytes && count() == count_before + 1;
    w2c_qjs_js_free_rt(module, runtime_, of_engine);
    if (!agree) break;
    knows_pieces_ = true;
    use_pieces(true);
    const uint32_t piece = w2c_qjs_js_malloc_rt(module, runtime_, size);
    agree &= piece == QUIRE_PIECES + kHead && used() == used_before + bytes && count() == count_before + 1;
    write(piece, &size, 1);
    const uint32_t grown = w2c_qjs_js_realloc_rt(module, runtime_, piece, 2 * QUIRE_LONGEST_PIECE);
    agree &= memory.load<uint8_t>(grown) == static_cast<uint8_t>(size) && count() == count_before + 1;
    w2c_qjs_js_free_rt(module, runtime_, grown);
    use_pieces(false);
    agree &= used() == used_before && count() == count_before;
  }
  knows_pieces_ = agree;
}

}  // namespace quire::engine
