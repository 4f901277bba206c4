// Command goloop is a minimal, correct use of franz-go and net/http: it forwards values unchanged,
// and commits a record when it and all earlier records of its partition got a 2xx.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"peers/acks"
	"peers/hosts"
)

// sessions is the number of TLS sessions that the client keeps, enough for all hosts of the bench.
const sessions = 16_384

func main() {
	inFlight, err := strconv.Atoi(os.Getenv("BENCH_IN_FLIGHT"))
	if err != nil {
		log.Fatalf("BENCH_IN_FLIGHT: %v", err)
	}
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Getenv("BENCH_BROKERS"), ",")...),
		kgo.ConsumeTopics(os.Getenv("BENCH_TOPIC")),
		kgo.ConsumerGroup(os.Getenv("BENCH_GROUP")),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(),
	)
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	hosts.PrepareTransport(transport, 2*inFlight+2*hosts.Count())
	transport.TLSClientConfig = &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(sessions)}
	client := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	urls := make([]string, hosts.Count())
	for i := range urls {
		urls[i] = hosts.URL(os.Getenv("BENCH_URL"), strconv.Itoa(i))
	}
	records := make(chan *kgo.Record)
	tracker := acks.New(func(record *kgo.Record) { consumer.MarkCommitRecords(record) })
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for record := range records {
				for !post(client, urls[hosts.Of(record.Value, len(urls))], record.Value) {
				}
				tracker.Done(record)
			}
		})
	}
	for ctx.Err() == nil {
		fetches := consumer.PollRecords(ctx, 1024)
		for _, record := range fetches.Records() {
			tracker.Begin(record)
			records <- record
		}
	}
	close(records)
	workers.Wait()
	if err := consumer.CommitMarkedOffsets(context.Background()); err != nil {
		log.Print(err)
	}
	consumer.Close()
}

// post sends a value, and returns whether the response has a status of 2xx.
func post(client *http.Client, url string, value []byte) bool {
	response, err := client.Post(url, "application/octet-stream", bytes.NewReader(value))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode < 300
}
