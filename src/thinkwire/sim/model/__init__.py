"""The scripted model of the simulators."""
