"""Games and learning on the workers of a cluster, through joblib's backend of dask."""
