// io::stream over a TCP socket that belongs to a shard's event loop.
#pragma once

#include <memory>

#include <asio/ip/tcp.hpp>

#include "io/stream.hpp"

namespace braidmq::net {

// Sets TCP_NODELAY: answers are written whole, waiting for more of them only costs time.
std::unique_ptr<io::stream> make_asio_stream(asio::ip::tcp::socket socket);

}  // namespace braidmq::net
