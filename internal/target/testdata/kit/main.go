// Kit is the program that the tests measure: its first argument says how it behaves.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

var sink [][]byte

//go:noinline
func allocate(n int) {
	for i := 0; i < n; i++ {
		sink = append(sink[:i%64], make([]byte, 64<<10))
	}
}

// spin computes for a time. While another process has the CPU, the time stands still: a step
// takes microseconds.
//
//go:noinline
func spin(d time.Duration) (n int) {
	for last := time.Now(); d > 0; {
		for i := 0; i < 1000; i++ {
			n += i * i
		}
		now := time.Now()
		if step := now.Sub(last); step < time.Millisecond {
			d -= step
		}
		last = now
	}
	return n
}

// contend empties the queue of its mutex in the end. As long as the oldest waiter
// came before the mutex rate was raised, the runtime takes no sample.
//
//go:noinline
func contend(iterations int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for g := 0; g < 4; g++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < iterations; i++ {
				mu.Lock()
				time.Sleep(100 * time.Microsecond)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
}

func work() {
	spin(150 * time.Millisecond)
	allocate(200)
	contend(40)
}

func main() {
	verbose := flag.Bool("v", false, "the program's own flag")
	flag.Parse()
	if *verbose {
		fmt.Fprintln(os.Stderr, "verbose")
	}
	switch flag.Arg(0) {
	case "instant":
	case "return":
		work()
	case "exit3":
		work()
		fmt.Fprintln(os.Stderr, "about to exit 3")
		os.Exit(3)
	case "fatal":
		work()
		log.Fatal("no more")
	case "panic":
		work()
		panic("oh dear")
	case "syscallexit":
		work()
		syscall.Exit(4)
	case "compute": // as much on a busy machine
		n := 0
		for i := 0; i < 1_500_000_000; i++ {
			n += i * i
		}
		fmt.Println(n)
	case "late": // ends while hone profiles it
		spin(800 * time.Millisecond)
	case "idle":
		fmt.Println("idle")
		select {
		case <-time.After(60 * time.Second):
		}
	case "busy":
		go func() {
			for {
				contend(10)
			}
		}()
		for {
			spin(5 * time.Millisecond)
			allocate(10)
			time.Sleep(time.Millisecond)
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		fmt.Println("stubborn")
		time.Sleep(60 * time.Second)
	case "parent": // starts a child and tells its pid
		c := exec.Command(os.Args[0], "idle")
		if err := c.Start(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Process.Pid)
		time.Sleep(60 * time.Second)
	case "children": // has one that computes several times as long as itself, which has the kernel work, and allocates 200 × 64 KiB
		if zero, err := os.Open("/dev/zero"); err == nil {
			b := make([]byte, 64<<10)
			for i := 0; i < 150_000; i++ {
				zero.Read(b)
			}
		}
		if err := exec.Command(os.Args[0], "compute").Run(); err != nil {
			log.Fatal(err)
		}
		allocate(200)
	case "queue": // whose goroutines wait for a mutex, ten milliseconds each
		var mu sync.Mutex
		var wg sync.WaitGroup
		mu.Lock()
		for i := 0; i < 400; i++ {
			wg.Add(1)
			go func() { defer wg.Done(); mu.Lock(); mu.Unlock() }()
		}
		time.Sleep(10 * time.Millisecond)
		mu.Unlock()
		wg.Wait()
	case "deadlock":
		select {}
	case "exec": // becomes another program
		fmt.Println("exec")
		time.Sleep(50 * time.Millisecond)
		log.Fatal(syscall.Exec(os.Args[0], []string{"kit", "idle"}, os.Environ()))
	case "environment": // its own, its child's, and the child's descriptors
		for _, kv := range os.Environ() {
			if strings.HasPrefix(kv, "HONE") {
				fmt.Println("own", kv)
			}
		}
		out, _ := exec.Command("sh", "-c", "env | grep HONE; ls -l /proc/self/fd 2>/dev/null | grep socket").CombinedOutput()
		fmt.Printf("child %q\n", out)
	case "chatter":
		line := []byte(strings.Repeat("x", 1023) + "\n")
		for i := 0; i < 12<<10; i++ {
			os.Stdout.Write(line)
			os.Stderr.Write(line)
			if i%1024 == 0 {
				time.Sleep(30 * time.Millisecond)
			}
		}
		fmt.Fprintln(os.Stderr, "the very last line")
		os.Exit(1)
	case "stdin":
		var s string
		fmt.Scan(&s)
		fmt.Println("read", s)
	case "settings":
		fmt.Println(debug.SetGCPercent(-1), runtime.SetMutexProfileFraction(-1))
	default:
		fmt.Fprintln(os.Stderr, "no such mode")
		os.Exit(2)
	}
}
