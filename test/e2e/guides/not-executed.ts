/** What no test enters as the pages print it, and the tests that cover it instead. */

export interface NotExecuted {
  readonly path: string;
  /** Heading of the section; none if the page has no commands. */
  readonly section?: string;
  /** Beginnings of the statements that are left out; without them, all of the section. */
  readonly statements?: readonly string[];
  readonly because: string;
  readonly coveredBy: readonly string[];
}

export const NOT_EXECUTED: readonly NotExecuted[] = [
  {
    path: 'README.md',
    section: 'kubenode',
    statements: ['npx kubenode tour'],
    because: 'another test runs every step of it, on a fleet of its own',
    coveredBy: ['test/e2e/demo.test.ts'],
  },
  {
    path: 'README.md',
    section: 'Make nodes of your own hosts',
    because: 'it needs hosts; a test imports real hosts with the same controllers',
    coveredBy: ['test/nodes/rollout/rollout.test.ts', 'test/cluster/cli/import.test.ts'],
  },
  {
    path: 'README.md',
    section: 'Tests and numbers',
    because: 'a test does not run all tests',
    coveredBy: ['test/printed-commands.test.ts'],
  },
  {
    path: 'docs/guides/cluster-api.md',
    section: 'Try it',
    because: 'it needs Cluster API; a test installs its kinds and the role, and runs the controller',
    coveredBy: ['test/cluster/controllers/clusterapi.test.ts', 'test/cli/commands/install/deploy.test.ts'],
  },
  {
    path: 'docs/guides/cluster-api.md',
    section: 'On this computer',
    because: 'it needs Go; a test starts it and enters each statement of the section',
    coveredBy: ['test/cluster/try-cluster-api.test.ts'],
  },
  {
    path: 'docs/guides/cluster-api.md',
    section: 'Agents on their machines',
    because: 'its URL is an example; a test runs the command, and an agent that joins with what it prints',
    coveredBy: ['test/cluster/agent/identity.test.ts', 'test/providers/cloud/kubeadm-data.test.ts'],
  },
  {
    path: 'docs/guides/cluster-api.md',
    section: 'One drain for both',
    because:
      'it is for machines in the middle of a deletion; tests let the core of Cluster API wait and go on',
    coveredBy: [
      'test/cluster/controllers/clusterapi.test.ts',
      'test/cluster/controllers/clusterapi-remediation.test.ts',
    ],
  },
  {
    path: 'docs/guides/cluster-api.md',
    section: 'Objects in a management cluster',
    because:
      'it needs two clusters and an image; a test has two API servers, with the same rights and options',
    coveredBy: [
      'test/cluster/controllers/clusterapi-management.test.ts',
      'test/cli/commands/install/management.test.ts',
    ],
  },
  {
    path: 'docs/guides/external-nodes.md',
    section: 'Try it',
    because: 'it needs Karpenter in a cluster with pods; tests run Karpenter and the controller beside it',
    coveredBy: ['test/cluster/controllers/karpenter.test.ts', 'test/cli/commands/install/deploy.test.ts'],
  },
  {
    path: 'docs/guides/external-nodes.md',
    section: 'Node groups',
    because: 'it needs Nodes of a cloud and an image; a test runs the controller with the role',
    coveredBy: ['test/cluster/controllers/nodegroup.test.ts', 'test/cli/commands/install/deploy.test.ts'],
  },
  {
    path: 'docs/guides/fleet-limits.md',
    section: 'What a cluster notices',
    because: 'it needs several clusters with machines; a test has two, with real Defenders and sync',
    coveredBy: ['test/cluster/sync/fleet-limits.test.ts'],
  },
  ...['Updates in place', 'Without pods', 'How a machine is updated'].map((section) => ({
    path: 'docs/guides/cluster-api.md',
    section,
    because:
      'it needs Cluster API; tests run its core, install the extension, and update the machines of a MachineDeployment',
    coveredBy: [
      'test/cluster/controllers/clusterapi-update.test.ts',
      'test/cluster/cli/install-extension.test.ts',
    ],
  })),
  {
    path: 'docs/guides/notifications.md',
    section: 'Declare the receivers',
    because: 'its receivers are systems of a company; a test has one of its own, which fails first',
    coveredBy: [
      'test/cluster/controllers/remedyjob/steps.test.ts',
      'test/controllers/notifier/controller.test.ts',
      'test/deploy/workload.test.ts',
    ],
  },
  {
    path: 'docs/guides/traces.md',
    section: 'Turn traces on',
    because: 'it needs a collector; tests have one of their own, and one that fails and hangs',
    coveredBy: [
      'test/cluster/controllers/remedyjob.test.ts',
      'test/cluster/controllers/componentset/traces.test.ts',
      'test/cluster/sync/traces.test.ts',
      'test/observability/trace/otlp/collector.test.ts',
      'test/observability/trace/otlp/exporter.test.ts',
      'test/deploy/workload.test.ts',
    ],
  },
  ...['On this computer', 'In clusters'].map((section) => ({
    path: 'docs/guides/metrics.md',
    section,
    because:
      'it starts a second fleet, and needs a cluster with a Prometheus; tests run each command, and every rule and query in a real Prometheus',
    coveredBy: [
      'test/cluster/local/start.test.ts',
      'test/cluster/cli/install-deploy.test.ts',
      'test/observability/prometheus/rule-file.test.ts',
      'test/observability/dashboards/dashboards.test.ts',
      'test/cluster/observability/metrics.test.ts',
    ],
  })),
  {
    path: 'docs/guides/report.md',
    section: 'The report of a week',
    because: 'it needs a Prometheus that has scraped for days; a test fills a real one',
    coveredBy: ['test/cli/commands/report.test.ts'],
  },
  {
    path: 'docs/guides/helm-and-kustomize.md',
    section: 'Helm charts and Kustomize overlays',
    statements: ['helm template'],
    because: 'it needs helm and a registry with a chart',
    coveredBy: ['test/constructs/yaml-file.test.ts'],
  },
  ...['Serve it', 'Permit a tool to ask', 'Ask, renew, settle', 'Approve'].map((section) => ({
    path: 'docs/guides/http-api.md',
    section,
    because: 'a test with an API server of its own runs all shell blocks of the page',
    coveredBy: ['test/cluster/defender/http.test.ts'],
  })),
  ...['In a cluster', 'With a token', 'At an issuer', 'Other clusters'].map((section) => ({
    path: 'docs/guides/console-login.md',
    section,
    because: 'it needs a cluster with an Ingress, and people; tests sign in at real API servers',
    coveredBy: [
      'test/cluster/cli/console-login.test.ts',
      'test/cluster/cli/console-oidc.test.ts',
      'test/cluster/cli/console-login-clusters.test.ts',
      'test/cli/commands/install/console.test.ts',
    ],
  })),
  {
    path: 'docs/guides/install.md',
    section: 'The image',
    statements: ['npm ci', 'npm pack', 'docker'],
    because: 'it needs a container engine and a registry',
    coveredBy: ['test/nodes/deploy/pods.test.ts', 'test/support/node-kit/engine-image.ts'],
  },
  ...['Ask', 'Keep it for longer', 'Who may read and write it'].map((section) => ({
    path: 'docs/guides/audit.md',
    section,
    because: 'its names are examples; tests read the record of real clusters with the command',
    coveredBy: ['test/cluster/sync/audit.test.ts', 'test/cluster/api/policies/audit-record.test.ts'],
  })),
  ...['List the keys', 'When a commit is refused'].map((section) => ({
    path: 'docs/guides/signatures.md',
    section,
    because: 'it configures the git of a person; a test signs real commits, and pushes them to a real hub',
    coveredBy: ['test/sync/git/signatures/verify.test.ts', 'test/cluster/sync/signatures.test.ts'],
  })),
  ...['Make a key', 'Encrypt a file', 'Replace the key'].map((section) => ({
    path: 'docs/guides/secrets.md',
    section,
    because:
      'it needs sops and age; a test encrypts with the real programs, for a real hub with real clusters',
    coveredBy: ['test/cluster/sync/sops.test.ts', 'test/kube/sops/decrypt.test.ts'],
  })),
  ...['The secret', 'At the git host'].map((section) => ({
    path: 'docs/guides/webhooks.md',
    section,
    because: 'it needs a git host that reaches the hub; a test sends the same requests to a real hub',
    coveredBy: ['test/cluster/sync/webhook.test.ts'],
  })),
  {
    path: 'docs/guides/commit-statuses.md',
    section: 'The token',
    because: 'it needs a token of a git host; a test creates one in a real Gitea, and the same Secret',
    coveredBy: ['test/cluster/sync/git-host.test.ts'],
  },
  {
    path: 'docs/guides/commit-statuses.md',
    section: 'A GitHub App in place of a token',
    because:
      'it needs an App at GitHub; a test has the same Secret, and a stand-in that verifies its requests',
    coveredBy: ['test/sync/report/reporter.test.ts', 'test/sync/report/tokens/git-tokens.test.ts'],
  },
  {
    path: 'docs/guides/signatures.md',
    section: 'Commit an approval',
    because: 'it needs a stage that waits for one; a test signs, pushes, and opens a stage of a real hub',
    coveredBy: ['test/cluster/sync/approve-commit.test.ts'],
  },
  {
    path: 'docs/guides/automatic-reverts.md',
    section: 'The token',
    because: 'it needs a token of a git host; a test creates one in a real Gitea, and the same Secret',
    coveredBy: ['test/cluster/sync/reverts.test.ts'],
  },
  {
    path: 'docs/guides/automatic-reverts.md',
    section: 'What became of it',
    because:
      'it needs a failed commit that sync has reverted at a git host; a test asks for one in a real Gitea',
    coveredBy: ['test/cluster/sync/reverts.test.ts'],
  },
  ...['The secret', 'Start it', 'Report by HTTP', 'Report by a file'].map((section) => ({
    path: 'docs/guides/hardware-events.md',
    section,
    because: 'a test with an API server of its own runs all shell blocks of the page',
    coveredBy: ['test/cluster/controllers/hardware-events.test.ts'],
  })),
  {
    path: 'docs/guides/join-a-machine.md',
    section: 'On a real host',
    because: 'it needs root and systemd',
    coveredBy: ['test/nodes/agent-unit.test.ts', 'test/nodes/agent/node.test.ts'],
  },
  ...['Build it', 'Take over a host', 'In an image', 'With cloud-init', 'Release a host'].map((section) => ({
    path: 'docs/guides/agent-program.md',
    section,
    because: 'it needs minutes, root and systemd; a test runs the program on a real host without Node.js',
    coveredBy: [
      'test/nodes/agent/takeover.test.ts',
      'test/cli/commands/agent/takeover/run.test.ts',
      'test/providers/cloud/user-data.test.ts',
      'test/scripts/agent/deb.test.ts',
      'test/scripts/agent/rpm.test.ts',
    ],
  })),
  ...['Check hosts', 'Many hosts', 'Apply Machines', 'Keys and passwords'].map((section) => ({
    path: 'docs/guides/import.md',
    section,
    because: 'it needs hosts; tests run the same commands against sshd, on this machine and in real nodes',
    coveredBy: [
      'test/cli/commands/import/import.test.ts',
      'test/cluster/cli/import.test.ts',
      'test/nodes/import/import.test.ts',
    ],
  })),
  ...['Ten commands', 'Change it, and take it back'].map((section) => ({
    path: 'docs/guides/hosts-to-nodes.md',
    section,
    because:
      'it needs hosts that reach the sites of publishers; tests do the same with a mirror, on real hosts',
    coveredBy: [
      'test/nodes/rollout/rollout.test.ts',
      'test/nodes/agent/fleet.test.ts',
      'test/cluster/cli/cluster-connect.test.ts',
      'test/cli/commands/init.test.ts',
      'test/cli/commands/import/import.test.ts',
    ],
  })),
  ...['Declare the BMC', 'Read and switch'].map((section) => ({
    path: 'docs/guides/power.md',
    section,
    because:
      'it needs a BMC; tests run the same commands against our own server, and the emulator of sushy-tools',
    coveredBy: ['test/cluster/cli/machine-power.test.ts', 'test/providers/redfish/system.test.ts'],
  })),
  ...['See who has which host', 'Give a host back'].map((section) => ({
    path: 'docs/guides/host-pools.md',
    section,
    because: 'it needs hosts of a pool',
    coveredBy: ['test/cli/commands/pool/rows.test.ts', 'test/cli/commands/pool/free.test.ts'],
  })),
  {
    path: 'docs/guides/permissions.md',
    section: 'Secrets that git may reference',
    statements: ['kubenode cluster connect'],
    because:
      'the hub of the test has these Secrets from kubenode local up; a test with the controllers of Kubernetes runs it',
    coveredBy: ['test/cluster/cli/cluster-connect.test.ts'],
  },
  {
    path: 'docs/guides/problem-detector.md',
    because: 'it has no commands; a test reads its file',
    coveredBy: ['test/agent/detector/config/load.test.ts'],
  },
  {
    path: 'docs/guides/write-a-controller.md',
    because: 'it has no commands; a test runs its controller',
    coveredBy: ['test/kube/controller/guide.test.ts'],
  },
  {
    path: 'docs/guides/imported-machines.md',
    section: 'Imported machines',
    because: 'it needs a host; a test imports real hosts by the same objects',
    coveredBy: [
      'test/nodes/rollout/rollout.test.ts',
      'test/controllers/machine/import/execute/execute.test.ts',
    ],
  },
  ...['A mirror for networks without access'].map((section) => ({
    path: 'docs/guides/artifacts.md',
    section,
    because:
      'it needs a fleet with artifacts and a registry; tests with a registry of their own run the command',
    coveredBy: ['test/cli/commands/mirror/sync.test.ts', 'test/agent/host/download/download.test.ts'],
  })),
  ...['Find newer versions', 'Update'].map((section) => ({
    path: 'docs/guides/component-versions.md',
    section,
    because: 'it needs the sites of publishers; tests with a server of their own run the commands',
    coveredBy: ['test/cli/commands/component/change.test.ts', 'test/cli/commands/component/outdated.test.ts'],
  })),
  {
    path: 'docs/guides/example-fleet.md',
    section: 'Permit sync to grant what add-ons need',
    because:
      'it needs a cluster of a hosts fleet; a test applies the same file, and then all objects as sync',
    coveredBy: ['test/cluster/cli/declared.test.ts'],
  },
  {
    path: 'docs/guides/example-fleet.md',
    section: 'Render it',
    because:
      'cdk8s-cli is not installed; a test runs what it runs, and compares the objects with those of sync',
    coveredBy: ['test/fleet/synth.test.ts', 'test/fleet/fleet.test.ts'],
  },
  {
    path: 'docs/guides/hosted-clusters.md',
    section: 'As pods of the hub',
    because:
      'it needs images by digest and a node; tests do the same on a real API server and on a real node',
    coveredBy: [
      'test/cluster/controllers/hosting/drivers/workload/driver.test.ts',
      'test/nodes/hosting/workload.test.ts',
    ],
  },
  {
    path: 'docs/guides/hosted-clusters.md',
    section: 'Change version and flags',
    because: 'it needs the programs of two versions; a test builds the older one and does the same',
    coveredBy: ['test/cluster/controllers/hosting/upgrade.test.ts'],
  },
  {
    path: 'docs/guides/hosted-clusters.md',
    section: 'Rotate the authorities',
    because: 'it takes minutes; a test does the same under load on real processes',
    coveredBy: ['test/cluster/controllers/hosting/rotation.test.ts'],
  },
  ...['Hosted clusters', 'Delete one', 'Throw-away clusters'].map((section) => ({
    path: 'docs/guides/hosted-clusters.md',
    section,
    because: 'a control plane takes half a minute and 1 GB; a test with a real hub does the same',
    coveredBy: [
      'test/cluster/controllers/hosting/hosting.test.ts',
      'test/cluster/cli/cluster-hosted.test.ts',
    ],
  })),
  {
    path: 'docs/guides/hosted-clusters.md',
    section: 'Back up and restore',
    because: 'a test wipes a control plane and restores it, and compares every key',
    coveredBy: [
      'test/cluster/controllers/hosting/restore.test.ts',
      'test/cluster/controllers/hosting/process-driver.test.ts',
      'test/controllers/hosting/backup.test.ts',
    ],
  },
  {
    path: 'docs/guides/extend.md',
    because: 'it has no commands to follow; the files and tests that it names exist',
    coveredBy: ['test/documents.test.ts'],
  },
];

export function isLeftOut(path: string, title: string, statement: string): boolean {
  return NOT_EXECUTED.filter((entry) => entry.path === path && entry.section === title).some(
    ({ statements }) => statements === undefined || statements.some((start) => statement.startsWith(start)),
  );
}
