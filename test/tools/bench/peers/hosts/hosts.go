// Package hosts says to which host of the bench an event goes, and how to connect to it. It repeats
// the rules of sample-events.ts (message ids) and host-urls.ts (names of hosts).
package hosts

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
)

const (
	idPrefix = "bench-"
	idDigits = 9
)

// Count is the number of hosts, from the variable BENCH_HOSTS. The default is 1.
func Count() int {
	count, err := strconv.Atoi(os.Getenv("BENCH_HOSTS"))
	if err != nil || count < 1 {
		return 1
	}
	return count
}

// Of returns the number of the host for an event: the number in its message id, modulo count.
func Of(value []byte, count int) int {
	start := bytes.Index(value, []byte(idPrefix))
	if start < 0 {
		return 0
	}
	digits := value[start+len(idPrefix):]
	if len(digits) > idDigits {
		digits = digits[:idDigits]
	}
	number, _ := strconv.Atoi(string(digits))
	return number % count
}

// URL returns the URL of another host. It replaces h0 in the URL of host 0. The number may be an
// expression of Benthos.
func URL(first string, number string) string {
	return strings.Replace(first, "//h0.", "//h"+number+".", 1)
}

// PrepareTransport makes the transport keep up to `idle` idle connections, to each host and in all.
func PrepareTransport(transport *http.Transport, idle int) {
	transport.MaxIdleConns = idle
	transport.MaxIdleConnsPerHost = idle
	ResolveLocalhost(transport)
}

// ResolveLocalhost makes the transport connect to 127.0.0.1 for names below .localhost, because Go
// does not resolve them.
func ResolveLocalhost(transport *http.Transport) {
	dialer := &net.Dialer{}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err == nil && strings.HasSuffix(host, ".localhost") {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return dialer.DialContext(ctx, network, address)
	}
}
