"""Engines behind one port (base.py). Only vllm*.py import vllm and torch; each engine is imported when it is asked for."""
