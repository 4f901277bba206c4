module benthos

go 1.26.0

require (
	github.com/redpanda-data/benthos/v4 v4.60.0
	github.com/twmb/franz-go v1.22.3
)
