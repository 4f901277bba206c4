// Package acks finds the records that may be committed when records are acknowledged in any order.
package acks

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

type partition struct {
	open []*kgo.Record
	done map[int64]bool
}

// Tracker calls mark with a record when it and all earlier records of its partition are done.
type Tracker struct {
	mark       func(*kgo.Record)
	mu         sync.Mutex
	partitions map[int32]*partition
}

func New(mark func(*kgo.Record)) *Tracker {
	return &Tracker{mark: mark, partitions: map[int32]*partition{}}
}

// Begin is called with the records of a partition in their order.
func (t *Tracker) Begin(record *kgo.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.partitions[record.Partition]
	if own == nil {
		own = &partition{done: map[int64]bool{}}
		t.partitions[record.Partition] = own
	}
	own.open = append(own.open, record)
}

// Done may be called in any order.
func (t *Tracker) Done(record *kgo.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.partitions[record.Partition]
	own.done[record.Offset] = true
	var last *kgo.Record
	for len(own.open) > 0 && own.done[own.open[0].Offset] {
		last = own.open[0]
		delete(own.done, last.Offset)
		own.open = own.open[1:]
	}
	if last != nil {
		t.mark(last)
	}
}
