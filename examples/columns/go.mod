module example.com/columns

go 1.24.0
