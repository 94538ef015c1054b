module example.com/promises

go 1.25
