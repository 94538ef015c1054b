module example.com/partitioner

go 1.23.0
