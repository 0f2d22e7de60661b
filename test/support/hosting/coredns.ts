/** The manifests of CoreDNS, shortened: an account with a role, its configuration, its Deployment, and the Service of the cluster. */
export function corednsManifests(version: string, { withMetrics = true } = {}): string {
  return `apiVersion: v1
kind: ServiceAccount
metadata: {name: coredns, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: system:coredns}
rules:
- apiGroups: [""]
  resources: [endpoints, services, pods, namespaces]
  verbs: [list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: system:coredns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:coredns}
subjects: [{kind: ServiceAccount, name: coredns, namespace: kube-system}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: coredns, namespace: kube-system}
data:
  Corefile: |
    .:53 {
      kubernetes cluster.local
      cache 30
    }
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: coredns, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec:
  replicas: 2
  selector: {matchLabels: {k8s-app: kube-dns}}
  template:
    metadata: {labels: {k8s-app: kube-dns}}
    spec:
      serviceAccountName: coredns
      containers:
      - name: coredns
        image: registry.example/coredns:${version}
        resources: {limits: {memory: 0.25Gi}, requests: {cpu: 0.1}}
        ports: [{containerPort: 53, name: dns, protocol: UDP}]
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec:
  selector: {k8s-app: kube-dns}
  ports: [{name: dns, port: 53, protocol: UDP}]
${withMetrics ? METRICS : ''}`;
}

const METRICS = `---
apiVersion: v1
kind: Service
metadata: {name: kube-dns-metrics, namespace: kube-system}
spec:
  selector: {k8s-app: kube-dns}
  ports: [{name: metrics, port: 9153}]
`;
