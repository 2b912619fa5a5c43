//===- MemoryBook.cpp - accounts of a GPU's memory ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryBook.h"

#include "Device.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::cuda;

void MemoryBook::look(Part part) {
  std::lock_guard<std::mutex> lock(mutex);
  lookLocked(part);
}

void MemoryBook::lookLocked(Part part) {
  int64_t used = 0;
  if (Status status = device.usedBytes(used); !status.ok()) {
    if (error.ok())
      error = status;
    return;
  }
  parts[part] += used - last;
  last = used;
  largest = std::max(largest, used);
}

MemoryBook::Scope::Scope(MemoryBook &book, Part part) : book(book), part(part) {
  if (!book.isOpen)
    return;
  lock = std::unique_lock<std::mutex>(book.mutex);
  book.lookLocked(book.between);
}

MemoryBook::Scope::~Scope() {
  if (lock)
    book.lookLocked(part);
}
