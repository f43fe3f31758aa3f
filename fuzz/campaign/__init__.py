"""A budgeted run over many targets: `plan` splits it into shards, `shard` runs one, `run` runs all."""
