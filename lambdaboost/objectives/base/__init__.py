"""What objectives are built from: their base classes, the registry, and checks of their arguments."""
