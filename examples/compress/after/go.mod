module example.com/compress

go 1.23.0

require github.com/go-chi/chi v4.1.2+incompatible

require golang.org/x/net v0.33.0 // indirect
