// franz BOOTSTRAP: sets through franz-go's producer, idempotent as by default. Its sink takes one batch of each partition
// into a request; a batch that has room for one record of the test only makes a set of what is buffered together.
package main

import (
	"context"
	"errors"
	"os"
	"strconv"

	"braidmq/tests/integration/go/sets"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const batchBytes = 12_000

func code(err error) string {
	var known *kerr.Error
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &known):
		return strconv.Itoa(int(known.Code))
	default:
		return "local:" + err.Error()
	}
}

func main() {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.ProducerLinger(0),
	)
	if err != nil {
		sets.Fail(err)
	}
	sets.Serve(func(set sets.Set, outcome *sets.Outcome) {
		for i, record := range set.Records {
			client.Produce(context.Background(),
				&kgo.Record{Topic: record.Topic, Partition: record.Partition, Value: record.Value, Timestamp: record.Time},
				func(_ *kgo.Record, err error) { outcome.Report(i, code(err)) })
		}
	})
	client.Close()
}
