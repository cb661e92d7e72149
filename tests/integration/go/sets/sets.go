// Package sets is how test_atomic_clients.py drives a client, the same lines for each of them.
//
// In: "NAME TOPIC:PARTITION:SIZE:TIME ..." is a set of one record for each place, its value "@NAME@" filled up to SIZE
// bytes, its time in milliseconds or -1 for now; "go" sends the sets that were told since the last one, in their order and
// without a wait between them, and is answered "sent" once the client has taken them.
// Out: "NAME CODE ..." when a set is answered: for each record Kafka's error code, 0 for written, or "local:TEXT" when the
// client itself gave up. The end of the input ends the program when every set is answered.
package sets

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type Record struct {
	Topic     string
	Partition int32
	Value     []byte
	Time      time.Time
}

type Set struct {
	Name    string
	Records []Record
}

// Outcome collects the answers of a set's records and prints them when the last one is there. Any goroutine.
type Outcome struct {
	mutex sync.Mutex
	name  string
	codes []string
	left  int
	done  *sync.WaitGroup
}

var output sync.Mutex

func (o *Outcome) Report(record int, code string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.codes[record] = strings.ReplaceAll(code, " ", "_")
	if o.left--; o.left > 0 {
		return
	}
	say(o.name + " " + strings.Join(o.codes, " "))
	o.done.Done()
}

// Serve reads the standard input to its end. `send` hands one set to the client; Report is called once for each record.
func Serve(send func(Set, *Outcome)) {
	var open sync.WaitGroup
	var waiting []Set
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if fields[0] != "go" {
			waiting = append(waiting, parse(fields))
			continue
		}
		for _, one := range waiting {
			open.Add(1)
			count := len(one.Records)
			send(one, &Outcome{name: one.Name, codes: make([]string, count), left: count, done: &open})
		}
		waiting = nil
		say("sent")
	}
	open.Wait()
}

// Fail ends the program: nothing of a test can be said after it.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func say(line string) {
	output.Lock()
	defer output.Unlock()
	fmt.Println(line)
}

func parse(fields []string) Set {
	one := Set{Name: fields[0]}
	for _, place := range fields[1:] {
		parts := strings.Split(place, ":")
		partition, size, at := number(parts[1]), number(parts[2]), number(parts[3])
		value := []byte("@" + one.Name + "@")
		value = append(value, bytes.Repeat([]byte("."), int(size)-len(value))...)
		when := time.Now()
		if at >= 0 {
			when = time.UnixMilli(at)
		}
		one.Records = append(one.Records, Record{parts[0], int32(partition), value, when})
	}
	return one
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		Fail(err)
	}
	return value
}
