import RunLoopKitLinux

print("The Swift modules are there.")
