"""Assay's Python side: one process is either an engine worker or a harness worker."""
