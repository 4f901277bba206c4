// Command peer runs the benthos engine with an input that reads Kafka through franz-go.
package main

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"sync"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/twmb/franz-go/pkg/kgo"
)

// partition tracks the records of one Kafka partition. Acknowledgements may arrive in any order. A
// record is marked for commit only when it and all earlier records are acknowledged.
type partition struct {
	open []*kgo.Record
	done map[int64]bool
}

type input struct {
	brokers []string
	topics  []string
	group   string

	mu         sync.Mutex
	client     *kgo.Client
	buffer     []*kgo.Record
	partitions map[int32]*partition
}

func (i *input) Connect(ctx context.Context) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(i.brokers...),
		kgo.ConsumeTopics(i.topics...),
		kgo.ConsumerGroup(i.group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(),
	)
	if err != nil {
		return err
	}
	i.client = client
	return nil
}

func (i *input) Read(ctx context.Context) (*service.Message, service.AckFunc, error) {
	for len(i.buffer) == 0 {
		fetches := i.client.PollRecords(ctx, 1024)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if fetches.IsClientClosed() {
			return nil, nil, service.ErrEndOfInput
		}
		i.buffer = fetches.Records()
	}
	record := i.buffer[0]
	i.buffer = i.buffer[1:]
	i.mu.Lock()
	own := i.partitions[record.Partition]
	if own == nil {
		own = &partition{done: map[int64]bool{}}
		i.partitions[record.Partition] = own
	}
	own.open = append(own.open, record)
	i.mu.Unlock()
	return service.NewMessage(record.Value), func(_ context.Context, err error) error {
		if err == nil {
			i.ack(own, record)
		}
		return nil
	}, nil
}

func (i *input) ack(own *partition, record *kgo.Record) {
	i.mu.Lock()
	defer i.mu.Unlock()
	own.done[record.Offset] = true
	var last *kgo.Record
	for len(own.open) > 0 && own.done[own.open[0].Offset] {
		last = own.open[0]
		delete(own.done, last.Offset)
		own.open = own.open[1:]
	}
	if last != nil {
		i.client.MarkCommitRecords(last)
	}
}

func (i *input) Close(ctx context.Context) error {
	if i.client == nil {
		return nil
	}
	err := i.client.CommitMarkedOffsets(ctx)
	i.client.Close()
	return err
}

func main() {
	if count, err := strconv.Atoi(os.Getenv("IDLE_CONNECTIONS")); err == nil {
		transport := http.DefaultTransport.(*http.Transport)
		transport.MaxIdleConns = count
		transport.MaxIdleConnsPerHost = count
	}
	spec := service.NewConfigSpec().
		Field(service.NewStringListField("seed_brokers")).
		Field(service.NewStringListField("topics")).
		Field(service.NewStringField("consumer_group"))
	err := service.RegisterInput("kafka_franz", spec, func(conf *service.ParsedConfig, _ *service.Resources) (service.Input, error) {
		brokers, err := conf.FieldStringList("seed_brokers")
		if err != nil {
			return nil, err
		}
		topics, err := conf.FieldStringList("topics")
		if err != nil {
			return nil, err
		}
		group, err := conf.FieldString("consumer_group")
		if err != nil {
			return nil, err
		}
		return service.AutoRetryNacks(&input{brokers: brokers, topics: topics, group: group, partitions: map[int32]*partition{}}), nil
	})
	if err != nil {
		panic(err)
	}
	service.RunCLI(context.Background())
}
