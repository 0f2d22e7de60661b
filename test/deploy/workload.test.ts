/** What the charts render: every container with probes and limits, every selector with the labels that it selects, and no rights. */
import { describe, expect, it } from 'vitest';
import { installation } from '../../src/api/install/installation.ts';
import { MEMBERS as WORKLOAD_MEMBERS } from '../../src/controllers/hosting/drivers/driver.ts';
import { memberPort } from '../../src/controllers/hosting/drivers/workload/ports.ts';
import {
  CONSOLE,
  CONTROLLERS,
  CONTROLLERS_WITH_MAINTENANCE,
  type DeployedProgram,
  HEALTH_PORT,
  HOSTING,
  SYNC,
  SYNC_WITH_WEBHOOKS,
} from '../../src/deploy/programs.ts';
import { renderWorkload } from '../../src/deploy/workload.ts';
import { listAt, textAt, valueAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';

const settings = { image: 'registry.example.com/kubenode:1.2.3', replicas: 3, egressPorts: [8443] };

/** The rendered object of that kind. */
function rendered(kind: string, program = SYNC): KubeObject {
  const found = renderWorkload(program, settings).find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}

function podSpec(program = SYNC): unknown {
  return valueAt(rendered('Deployment', program), 'spec', 'template', 'spec');
}

function container(program = SYNC): unknown {
  return listAt(podSpec(program), 'containers')[0];
}

function http(path: string): Readonly<Record<string, unknown>> {
  return { httpGet: { path, port: HEALTH_PORT, scheme: 'HTTP' } };
}

/** The ports that the pods may connect to. */
function portsOf(program: DeployedProgram): readonly unknown[] {
  return listAt(rendered('NetworkPolicy', program), 'spec', 'egress').flatMap((rule) =>
    listAt(rule, 'ports').map((port) => valueAt(port, 'port')),
  );
}

describe.each([SYNC, CONTROLLERS, HOSTING])('the chart of $name', (program) => {
  const labels = { 'app.kubernetes.io/name': 'kubenode', 'app.kubernetes.io/component': program.component };

  it('renders its objects in the namespace of kubenode, limits before pods', () => {
    const objects = renderWorkload(program, settings);
    const kinds = objects.map(({ kind }) => kind).filter((kind) => kind !== 'ConfigMap');
    expect(kinds).toEqual(['NetworkPolicy', 'PodDisruptionBudget', 'Deployment']);
    for (const { metadata } of objects) {
      expect(metadata).toMatchObject({ name: program.name, namespace: 'kubenode-system', labels });
    }
  });

  it('renders the same bytes each time', () => {
    expect(JSON.stringify(renderWorkload(program, settings))).toBe(
      JSON.stringify(renderWorkload(program, settings)),
    );
  });

  it('gives its pods exactly the labels that everything else selects', () => {
    const { spec } = rendered('Deployment', program) as unknown as { spec: unknown };
    expect(valueAt(spec, 'template', 'metadata', 'labels')).toEqual(labels);
    expect(valueAt(spec, 'selector')).toEqual({ matchLabels: labels });
    const budget = rendered('PodDisruptionBudget', program);
    expect(valueAt(budget, 'spec', 'selector')).toEqual({ matchLabels: labels });
    const policy = rendered('NetworkPolicy', program);
    expect(valueAt(policy, 'spec', 'podSelector')).toEqual({ matchLabels: labels });
    const spread = listAt(podSpec(program), 'topologySpreadConstraints');
    expect(spread.map((each) => textAt(each, 'topologyKey'))).toEqual([
      'kubernetes.io/hostname',
      'topology.kubernetes.io/zone',
    ]);
    for (const each of spread) expect(valueAt(each, 'labelSelector')).toEqual({ matchLabels: labels });
  });

  it('gives its one container probes on the port that the program listens on', () => {
    expect(listAt(podSpec(program), 'containers')).toHaveLength(1);
    expect(container(program)).toMatchObject({
      image: settings.image,
      startupProbe: http('/healthz'),
      livenessProbe: http('/healthz'),
      readinessProbe: http('/readyz'),
      ports: [{ containerPort: HEALTH_PORT }],
    });
    const args = listAt(container(program), 'args');
    expect(args.slice(-4)).toEqual(['--port', String(HEALTH_PORT), '--host', '$(POD_IP)']);
    expect(args[0]).toBe(program.component);
  });

  it('limits CPU, memory and files', () => {
    const resources = valueAt(container(program), 'resources') as Record<string, Record<string, string>>;
    const names = ['cpu', 'ephemeral-storage', 'memory'];
    expect(Object.keys(resources['requests'] ?? {}).toSorted()).toEqual(names);
    expect(Object.keys(resources['limits'] ?? {}).toSorted()).toEqual(names);
    const volumes = listAt(podSpec(program), 'volumes').filter((volume) => !valueAt(volume, 'configMap'));
    expect(volumes).toHaveLength(2);
    for (const volume of volumes) expect(textAt(volume, 'emptyDir', 'sizeLimit')).toMatch(/^\d+Mi$/);
  });

  it('runs without root, capabilities, or a root file system to write to', () => {
    expect(podSpec(program)).toMatchObject({
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      hostNetwork: false,
    });
    expect(valueAt(container(program), 'securityContext')).toMatchObject({
      runAsNonRoot: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('runs as the account that the installation creates, and brings no rights', () => {
    const accounts = installation().filter(({ kind }) => kind === 'ServiceAccount');
    const account = accounts.find(
      ({ metadata }) => metadata.name === textAt(podSpec(program), 'serviceAccountName'),
    );
    expect(account?.['automountServiceAccountToken']).toBe(true);
    expect(renderWorkload(program, settings).filter(({ kind }) => /Role|ServiceAccount/.test(kind))).toEqual(
      [],
    );
  });
});

describe('the accounts of the charts', () => {
  const roles = installation().filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');

  it.each([SYNC, CONTROLLERS, HOSTING])(
    '$account may neither use every verb nor write every resource',
    ({ account }) => {
      const own = roles.filter(({ metadata }) => metadata.name.startsWith(account));
      const rules = own.flatMap((role) => listAt(role, 'rules'));
      expect(rules.length).toBeGreaterThan(0);
      for (const rule of rules) {
        const verbs = listAt(rule, 'verbs');
        expect(verbs).not.toContain('*');
        expect(listAt(rule, 'apiGroups')).not.toContain('*');
        const reads = verbs.every((verb) => ['get', 'list', 'watch'].includes(String(verb)));
        expect(reads || !listAt(rule, 'resources').includes('*')).toBe(true);
      }
    },
  );
});

describe('the chart', () => {
  it('limits what the pods connect to, by port, with name lookups only for sync', () => {
    expect(portsOf(SYNC)).toEqual([22, 443, 6443, 8443, 53, 53]);
    expect(portsOf(CONTROLLERS)).toEqual([443, 6443, 8443]);
  });

  it('opens the port of the metrics to namespaces with a label, and nothing else', () => {
    const ingress = listAt(rendered('NetworkPolicy'), 'spec', 'ingress');
    expect(ingress).toEqual([
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubenode.dev/scrape': 'true' } } }],
        ports: [{ port: HEALTH_PORT, protocol: 'TCP' }],
      },
    ]);
  });

  it('lets a drain continue with one replica, and with pods that are not ready', () => {
    expect(valueAt(rendered('PodDisruptionBudget'), 'spec')).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });

  it('reaps the programs that sync starts, by the process namespace of the pod', () => {
    expect(valueAt(podSpec(SYNC), 'shareProcessNamespace')).toBe(true);
    expect(valueAt(podSpec(CONTROLLERS), 'shareProcessNamespace')).toBeUndefined();
  });
});

describe('hosting', () => {
  it('reads its images from a ConfigMap that is applied before its pods, and cannot write it', () => {
    const objects = renderWorkload(HOSTING, { ...settings, config: 'versions: []' });
    expect(objects[0]).toMatchObject({ kind: 'ConfigMap', data: { 'images.yaml': 'versions: []' } });
    expect(listAt(podSpec(HOSTING), 'volumes')).toContainEqual({
      name: 'config',
      configMap: { name: 'kubenode-hosting' },
    });
    expect(listAt(container(HOSTING), 'volumeMounts')).toContainEqual({
      name: 'config',
      mountPath: '/etc/kubenode',
      readOnly: true,
    });
    expect(listAt(container(HOSTING), 'args')).toContain('/etc/kubenode/images.yaml');
  });

  it('reaches the ports at which its driver asks each member for a certificate', () => {
    const ports = WORKLOAD_MEMBERS.map((member) => memberPort(member, 6443));
    const asked = ports.filter((_, index) => WORKLOAD_MEMBERS[index] !== 'kubenode-controllers');
    expect(portsOf(HOSTING)).toEqual(expect.arrayContaining(asked));
  });
});

describe('sync with webhooks', () => {
  it('has a Service in front of all its pods, which leads to the port that the program listens on', () => {
    const service = rendered('Service', SYNC_WITH_WEBHOOKS);
    expect(service).toMatchObject({
      metadata: { name: 'kubenode-sync-webhooks', namespace: 'kubenode-system' },
      spec: { ports: [{ port: 80, targetPort: SYNC_WITH_WEBHOOKS.webhookPort }] },
    });
    const labels = valueAt(
      rendered('Deployment', SYNC_WITH_WEBHOOKS),
      'spec',
      'template',
      'metadata',
      'labels',
    );
    expect(valueAt(service, 'spec', 'selector')).toEqual(labels);
    const args = listAt(container(SYNC_WITH_WEBHOOKS), 'args').join(' ');
    expect(args).toContain(`--webhook-port ${SYNC_WITH_WEBHOOKS.webhookPort} --webhook-host $(POD_IP)`);
  });

  it('is like the Service of the controllers for events of hardware systems', () => {
    const service = rendered('Service', CONTROLLERS_WITH_MAINTENANCE);
    expect(service).toMatchObject({ metadata: { name: 'kubenode-controllers-webhooks' } });
    const args = listAt(container(CONTROLLERS_WITH_MAINTENANCE), 'args').join(' ');
    const { webhookPort } = CONTROLLERS_WITH_MAINTENANCE;
    expect(args).toContain(`--maintenance-port ${webhookPort} --maintenance-host $(POD_IP)`);
  });

  it('is the same as sync in everything else', () => {
    const kinds = renderWorkload(SYNC_WITH_WEBHOOKS, settings).map(({ kind }) => kind);
    expect(kinds).toEqual([...renderWorkload(SYNC, settings).map(({ kind }) => kind), 'Service']);
  });
});

/** The ports that the pods may connect to with that server: `TCP 9090`. */
function egressWith(
  program: DeployedProgram,
  url: string,
  option: 'prometheusUrl' | 'otlpEndpoint' = 'prometheusUrl',
): readonly string[] {
  const objects = renderWorkload(program, { ...settings, [option]: url });
  const [rule] = listAt(
    objects.find(({ kind }) => kind === 'NetworkPolicy'),
    'spec',
    'egress',
  );
  return listAt(rule, 'ports').map((port) => `${textAt(port, 'protocol')} ${Number(valueAt(port, 'port'))}`);
}

describe('the Prometheus of the checks and of the console', () => {
  it.each([SYNC, CONTROLLERS, CONSOLE])(
    'DAT-09 is passed to $name, which may connect to its port and ask for names',
    (program) => {
      const url = 'http://prometheus.monitoring:9090';
      const objects = renderWorkload(program, { ...settings, prometheusUrl: url });
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      const [found] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
      expect(listAt(found, 'args').join(' ')).toContain(` --prometheus-url ${url} `);
      expect(egressWith(program, url)).toEqual(expect.arrayContaining(['TCP 9090', 'UDP 53']));
    },
  );

  it('DAT-09 has the usual port of its protocol where the URL names none', () => {
    expect(egressWith(CONTROLLERS, 'http://prometheus')).toContain('TCP 80');
    expect(egressWith(CONTROLLERS, 'https://prometheus')).toContain('TCP 443');
  });

  it('DAT-09 is nothing to hosting, which runs no checks', () => {
    const url = 'http://prometheus:9090';
    expect(renderWorkload(HOSTING, { ...settings, prometheusUrl: url })).toEqual(
      renderWorkload(HOSTING, settings),
    );
  });
});

describe('the collector of traces', () => {
  it.each([SYNC, CONTROLLERS])(
    'DAT-10 is passed to $name, which may connect to its port and ask for names',
    (program) => {
      const otlpEndpoint = 'http://collector.monitoring:4318';
      const objects = renderWorkload(program, { ...settings, otlpEndpoint, otlpCluster: 'prod-eu-1' });
      const deployment = objects.find(({ kind }) => kind === 'Deployment');
      const [found] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
      expect(listAt(found, 'args').join(' ')).toContain(
        ` --otlp-endpoint ${otlpEndpoint} --otlp-cluster prod-eu-1 `,
      );
      expect(egressWith(program, otlpEndpoint, 'otlpEndpoint')).toEqual(
        expect.arrayContaining(['TCP 4318', 'UDP 53']),
      );
    },
  );

  it('DAT-10 is nothing to hosting, which exports no traces', () => {
    expect(renderWorkload(HOSTING, { ...settings, otlpEndpoint: 'http://collector:4318' })).toEqual(
      renderWorkload(HOSTING, settings),
    );
  });
});
