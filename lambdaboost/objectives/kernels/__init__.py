"""λ and μ over pairs of documents, compiled: pair rules, levels, tiles, the tree for long lists."""
