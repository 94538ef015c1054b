module example.com/mandelbrot

go 1.23.0
