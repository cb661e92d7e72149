// Errors of record batches and names. Each value is the number of the Kafka error that answers a client for it, so the
// server's mapping is a cast; `incomplete_batch` alone has no number there.
//
// Where Kafka's choice was open: magic 0 and 1 are invalid_record (Produce v3+ allows magic 2 only), another magic is
// corrupt_message (the bytes are no batch). UNSUPPORTED_FOR_MESSAGE_FORMAT (43) speaks of old topics and is never ours.
// Codec ids 5-7 are unsupported_compression, where Kafka fails with UNKNOWN_SERVER_ERROR.
#pragma once

#include <system_error>

namespace braidmq::model {

enum class errc {
  corrupt_message = 2,           // CORRUPT_MESSAGE: CRC, length, or no batch at all; the client may try again
  message_too_large = 10,        // MESSAGE_TOO_LARGE: the batch, or what its records decode to
  invalid_topic = 17,            // INVALID_TOPIC_EXCEPTION
  invalid_timestamp = 32,        // INVALID_TIMESTAMP
  unsupported_compression = 76,  // UNSUPPORTED_COMPRESSION_TYPE
  invalid_record = 87,           // INVALID_RECORD: sound bytes with a content that is not allowed
  incomplete_batch = 1000,       // a block ends in the middle of a batch (the tail of a bounded read)
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::model

template <>
struct std::is_error_code_enum<braidmq::model::errc> : std::true_type {};
