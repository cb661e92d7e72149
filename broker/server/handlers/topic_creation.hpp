// Creating a topic and waiting until it can be used: for CreateTopics, and for Metadata with automatic creation.
#pragma once

#include "metadata/controller.hpp"
#include "server/request_context.hpp"

namespace braidmq::server::handlers {

// The topic is in the metadata log and its partitions are applied in the braid; or why not.
runtime::task<result<std::shared_ptr<const metadata::topic_image>>> create_and_wait(request_ptr context,
                                                                                    metadata::new_topic topic,
                                                                                    io::duration timeout);

}  // namespace braidmq::server::handlers
