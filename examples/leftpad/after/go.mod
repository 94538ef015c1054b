module example.com/leftpad

go 1.23.0
