module autoscalers

go 1.26.0

tool (
	github.com/kedacore/keda/v2/cmd/adapter
	github.com/kedacore/keda/v2/cmd/operator
	sigs.k8s.io/metrics-server/cmd/metrics-server
)

require (
	github.com/kedacore/keda/v2 v2.21.0
	sigs.k8s.io/metrics-server v0.9.0
)

// Go ignores this line in the go.mod of KEDA, because KEDA is not the main module.
replace github.com/nexus-rpc/nexus-proto-annotations v0.1.0 => github.com/nexus-rpc/nexus-proto-annotations v0.1.1-0.20260629224316-835bd8d49cb4
