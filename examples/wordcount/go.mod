module example.com/wordcount

go 1.23.0
