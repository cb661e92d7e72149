// Settings of jemalloc, which it looks for under this name before main() begins. A page that is free for a second goes
// back to the system; a thread of jemalloc's own sees to it, so that an idle broker becomes small again, and a
// busy one does not pay for it with requests.
// Source: jemalloc(3), "TUNING".
extern "C" const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";
