module runloop

go 1.19
