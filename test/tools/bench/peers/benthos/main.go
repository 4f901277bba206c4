// Command benthos runs the benthos engine with an input that reads Kafka through franz-go.
package main

import (
	"context"
	"net/http"
	"os"
	"strconv"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/twmb/franz-go/pkg/kgo"
	"peers/acks"
	"peers/hosts"
)

type input struct {
	brokers []string
	topics  []string
	group   string

	hosts int

	client  *kgo.Client
	buffer  []*kgo.Record
	tracker *acks.Tracker
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
	i.tracker = acks.New(func(record *kgo.Record) { client.MarkCommitRecords(record) })
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
	i.tracker.Begin(record)
	message := service.NewMessage(record.Value)
	if i.hosts > 1 {
		message.MetaSetMut("host", hosts.Of(record.Value, i.hosts))
	}
	return message, func(_ context.Context, err error) error {
		if err == nil {
			i.tracker.Done(record)
		}
		return nil
	}, nil
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
	transport := http.DefaultTransport.(*http.Transport)
	if count, err := strconv.Atoi(os.Getenv("IDLE_CONNECTIONS")); err == nil {
		hosts.PrepareTransport(transport, count)
	} else {
		hosts.ResolveLocalhost(transport)
	}
	count := hosts.Count()
	if count > 1 {
		// Benthos evaluates this expression for each message.
		os.Setenv("BENCH_URL", hosts.URL(os.Getenv("BENCH_URL"), `${! meta("host") }`))
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
		return service.AutoRetryNacks(&input{brokers: brokers, topics: topics, group: group, hosts: count}), nil
	})
	if err != nil {
		panic(err)
	}
	service.RunCLI(context.Background())
}
