module faults

go 1.19

require runloop v0.0.0

replace runloop => ../../../../Interop/Bindings/go
