module kubernetes

go 1.26.0

// As in the releases of Kubernetes 1.34.
godebug default=go1.24

// Kubernetes replaces its modules k8s.io/… by directories of its own repository. As a dependency it
// needs the published versions of these modules, which have the same minor and patch numbers.
require (
	k8s.io/api v0.34.2
	k8s.io/apiextensions-apiserver v0.34.2
	k8s.io/apimachinery v0.34.2
	k8s.io/apiserver v0.34.2
	k8s.io/cli-runtime v0.34.2
	k8s.io/client-go v0.34.2
	k8s.io/cloud-provider v0.34.2
	k8s.io/cluster-bootstrap v0.34.2
	k8s.io/code-generator v0.34.2
	k8s.io/component-base v0.34.2
	k8s.io/component-helpers v0.34.2
	k8s.io/controller-manager v0.34.2
	k8s.io/cri-api v0.34.2
	k8s.io/cri-client v0.34.2
	k8s.io/csi-translation-lib v0.34.2
	k8s.io/dynamic-resource-allocation v0.34.2
	k8s.io/endpointslice v0.34.2
	k8s.io/externaljwt v0.34.2
	k8s.io/kms v0.34.2
	k8s.io/kube-aggregator v0.34.2
	k8s.io/kube-controller-manager v0.34.2
	k8s.io/kube-proxy v0.34.2
	k8s.io/kube-scheduler v0.34.2
	k8s.io/kubectl v0.34.2
	k8s.io/kubelet v0.34.2
	k8s.io/kubernetes v1.34.2
	k8s.io/metrics v0.34.2
	k8s.io/mount-utils v0.34.2
	k8s.io/pod-security-admission v0.34.2
	k8s.io/sample-apiserver v0.34.2
)
