// asio's own code, compiled once here (ASIO_SEPARATE_COMPILATION) instead of in every file that includes it.
#include <asio/impl/src.hpp>
