// A library must have a source; this one only carries a precompiled header.
