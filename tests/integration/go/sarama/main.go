// sarama requests|producer BOOTSTRAP: sets through sarama. "requests": one ProduceRequest for each set, which is how sarama
// can send one. "producer": its AsyncProducer, idempotent; records of a set go their own ways through it to the broker's
// buffer, so that a request holds what happens to be there.
package main

import (
	"errors"
	"os"
	"strconv"

	"braidmq/tests/integration/go/sets"
	"github.com/IBM/sarama"
)

const produceVersion = 10

func code(err error) string {
	var known sarama.KError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &known):
		return strconv.Itoa(int(known))
	default:
		return "local:" + err.Error()
	}
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V4_0_0_0
	config.Metadata.AllowAutoTopicCreation = false
	config.Producer.Return.Successes = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	return config
}

func requests(bootstrap string) {
	client, err := sarama.NewClient([]string{bootstrap}, settings())
	if err != nil {
		sets.Fail(err)
	}
	defer func() { _ = client.Close() }()
	sets.Serve(func(set sets.Set, outcome *sets.Outcome) {
		request := &sarama.ProduceRequest{Version: produceVersion, RequiredAcks: sarama.WaitForAll, Timeout: 30_000}
		for _, record := range set.Records {
			request.AddBatch(record.Topic, record.Partition, &sarama.RecordBatch{
				Version: 2, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
				FirstTimestamp: record.Time, MaxTimestamp: record.Time,
				Records: []*sarama.Record{{Value: record.Value}},
			})
		}
		leader, err := client.Leader(set.Records[0].Topic, set.Records[0].Partition)
		if err == nil {
			err = leader.AsyncProduce(request, func(response *sarama.ProduceResponse, err error) {
				for i, record := range set.Records {
					if err != nil {
						outcome.Report(i, code(err))
						continue
					}
					block := response.GetBlock(record.Topic, record.Partition)
					switch {
					case block == nil:
						outcome.Report(i, "local:no answer")
					case block.Err == sarama.ErrNoError:
						outcome.Report(i, "0")
					default:
						outcome.Report(i, code(block.Err))
					}
				}
			})
		}
		if err != nil {
			for i := range set.Records {
				outcome.Report(i, code(err))
			}
		}
	})
}

type place struct {
	outcome *sets.Outcome
	record  int
}

func producer(bootstrap string) {
	config := settings()
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1           // what sarama asks of an idempotent producer
	config.Producer.MaxMessageBytes = 12_000 // of a batch, too: one record of the test in each
	out, err := sarama.NewAsyncProducer([]string{bootstrap}, config)
	if err != nil {
		sets.Fail(err)
	}
	go func() {
		for message := range out.Successes() {
			at := message.Metadata.(place)
			at.outcome.Report(at.record, "0")
		}
	}()
	go func() {
		for failure := range out.Errors() {
			at := failure.Msg.Metadata.(place)
			at.outcome.Report(at.record, code(failure.Err))
		}
	}()
	sets.Serve(func(set sets.Set, outcome *sets.Outcome) {
		for i, record := range set.Records {
			out.Input() <- &sarama.ProducerMessage{Topic: record.Topic, Partition: record.Partition,
				Value: sarama.ByteEncoder(record.Value), Timestamp: record.Time, Metadata: place{outcome, i}}
		}
	})
	out.AsyncClose()
}

func main() {
	switch os.Args[1] {
	case "requests":
		requests(os.Args[2])
	case "producer":
		producer(os.Args[2])
	default:
		sets.Fail(errors.New("unknown kind " + os.Args[1]))
	}
}
