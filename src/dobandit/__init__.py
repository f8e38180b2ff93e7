"""Budgeted causal bandits with hidden confounders."""
