"""The Dagster model: partitions, resources, assets, checks, jobs, schedules and sensors."""

import warnings

# Live stages run one partition at a time, offline ones a range in one run: that a job holds both is what we want.
warnings.filterwarnings("ignore", message=r"Asset job .* materializes assets with varying BackfillPolicies")
warnings.filterwarnings("ignore", message=r"Parameter `backfill_policy` of function `asset` is currently in beta")
