"""What a campaign or a gate left behind, as pages and files that people and other programs read.

`model.Report` is what every writer takes; `campaigns` and `gates` make it from a record.
"""
