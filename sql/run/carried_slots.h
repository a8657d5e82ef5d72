// The columns in which carried slots are copied for the rows that an operator makes of one input row.
#pragma once

#include <algorithm>
#include <vector>

#include "sql/run/frame.h"

namespace quire::sql {

class CarriedSlots {
 public:
  explicit CarriedSlots(const std::vector<SlotNumber>& slots) : slots_(slots), columns_(slots.size()) {}

  // Takes the vectors of the input's batch.
  void take_input(const Frame& frame) {
    inputs_.clear();
    for (const SlotNumber slot : slots_) inputs_.push_back(frame.slots[slot]);
  }

  // Gives the made rows [first, end) the values of an input row.
  void copy(RowNumber input_row, size_t first, size_t end, size_t capacity) {
    for (size_t i = 0; i < slots_.size(); ++i) {
      Value* column = columns_[i].reserve(capacity);
      std::fill(column + first, column + end, inputs_[i][input_row]);
    }
  }

  // Points the frame's slots at the copies; restore_input() points them back.
  void show(Frame& frame) {
    for (size_t i = 0; i < slots_.size(); ++i) frame.slots[slots_[i]] = Vector::column(columns_[i].data());
  }
  void restore_input(Frame& frame) const {
    for (size_t i = 0; i < slots_.size(); ++i) frame.slots[slots_[i]] = inputs_[i];
  }

 private:
  std::vector<SlotNumber> slots_;
  std::vector<Column> columns_;
  std::vector<Vector> inputs_;
};

}  // namespace quire::sql
