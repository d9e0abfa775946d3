/// How many blocks the process has asked malloc for; -1 under a sanitizer, which has a malloc of its own.
long allocation_count(void);

/// How many bytes it has at the moment, of the first arena and of large blocks; 0 under a sanitizer.
long allocated_bytes(void);
