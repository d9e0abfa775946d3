/// How many blocks the process has asked malloc for; -1 under a sanitizer, which has a malloc of its own.
long allocation_count(void);
