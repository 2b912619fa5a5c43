// The target of the precompiled header needs a file of its own.
