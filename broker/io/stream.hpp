// A byte stream between two ends: a TCP or TLS connection, or a pipe of the simulator. One owner, one executor: calls
// are made and callbacks run there; at most one read and one write are under way at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/errc.hpp"

namespace braidmq::io {

class stream {
 public:
  virtual ~stream() = default;  // closes; callbacks under way are dropped, not called

  // Reads at least one byte into `target`, which must live until the callback. 0 bytes never come: the end of the
  // stream is errc::closed.
  virtual void read_some(mutable_byte_view target, unique_function<void(result<std::size_t>)> done) = 0;

  // Writes all parts, in order.
  virtual void write(std::vector<bytes> parts, unique_function<void(status)> done) = 0;

  // Ends both directions; a read or write under way finishes with errc::closed.
  virtual void close() = 0;

  // Address of the other end, for logs: "127.0.0.1:51234".
  virtual const std::string& remote() const = 0;
};

}  // namespace braidmq::io
