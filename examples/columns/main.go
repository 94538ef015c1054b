// Command columns answers queries over a table of sales, which it keeps in memory as columns of
// numbers, and prints a digest of the answers:
//
//	hone tune gc ./examples/columns -memory 1GiB -- -rows 4000000 -queries 600
//
// The live heap is large, but the garbage collector does not scan memory without pointers.
// Collections cost next to nothing, although each query allocates its answer, so no setting of the
// collector can save much.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
)

func main() {
	log.SetFlags(0)
	rows := flag.Int("rows", 4_000_000, "number of sales")
	queries := flag.Int("queries", 600, "number of queries")
	flag.Parse()
	if *rows < 1 || *queries < 0 {
		log.Fatal("columns: -rows must be at least 1, and -queries not negative")
	}
	if err := run(os.Stdout, *rows, *queries); err != nil {
		log.Fatal(err)
	}
}

// table is the sales, in the order of their times.
type table struct {
	seconds []uint32 // since the first sale
	product []uint16
	cents   []int64
}

// products is the number of different products.
const products = 1000

// generate returns a table of n sales, one to three seconds apart.
func generate(n int) *table {
	t := &table{seconds: make([]uint32, n), product: make([]uint16, n), cents: make([]int64, n)}
	rng := rand.New(rand.NewPCG(1, 2))
	now := uint32(0)
	for i := range n {
		now += 1 + rng.Uint32N(3)
		t.seconds[i], t.product[i], t.cents[i] = now, uint16(rng.UintN(products)), 100+rng.Int64N(100_000)
	}
	return t
}

// between returns the prices of a product's sales in a range of rows, and their sum.
func (t *table) between(from, to int, product uint16) (cents []int64, sum int64) {
	for i := from; i < to; i++ {
		if t.product[i] == product {
			cents = append(cents, t.cents[i])
			sum += t.cents[i]
		}
	}
	return cents, sum
}

// running returns the running total of a range of rows.
func (t *table) running(from, to int) []int64 {
	totals := make([]int64, 0, to-from)
	total := int64(0)
	for _, c := range t.cents[from:to] {
		total += c
		totals = append(totals, total)
	}
	return totals
}

// queried is the number of rows that a query reads.
const queried = 500_000

// run answers queries about ranges of rows.
func run(w io.Writer, rows, queries int) error {
	t := generate(rows)
	length := min(queried, rows)
	var digest uint64
	for q := range queries {
		from := q * 7919 % (rows - length + 1)
		totals := t.running(from, from+length)
		cents, sum := t.between(from, from+length, uint16(q%products))
		digest = digest*31 + uint64(totals[len(totals)-1]) + uint64(len(cents)) + uint64(sum)
	}
	_, err := fmt.Fprintf(w, "%d sales in %d seconds, %d queries, digest %x\n", rows, t.seconds[rows-1], queries, digest)
	return err
}
