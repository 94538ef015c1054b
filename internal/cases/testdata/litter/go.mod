module example.com/litter

go 1.25
