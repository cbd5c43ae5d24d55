//! Verdicts on layouts: rules, budgets, baselines, predictions.
