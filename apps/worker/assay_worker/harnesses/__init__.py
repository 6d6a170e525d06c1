"""Harnesses turn tasks into requests and results into scores. Only files of this folder import lm_eval."""
