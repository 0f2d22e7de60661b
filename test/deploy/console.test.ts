/** The console in a cluster: a pod without token and rights, in front of which an Ingress or a Gateway is put. */
import { describe, expect, it } from 'vitest';
import { planPrune } from '../../src/api/install/prune.ts';
import { renderMetrics } from '../../src/deploy/metrics.ts';
import { AUTHORITY_FOLDER, CONSOLE, CONTROLLERS } from '../../src/deploy/programs.ts';
import { renderWorkload } from '../../src/deploy/workload.ts';
import { listAt, valueAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';

const objects = renderWorkload(CONSOLE, {
  image: 'registry.example.com/kubenode:1',
  replicas: 3,
  egressPorts: [],
});

function rendered(kind: string): KubeObject {
  const found = objects.find((object) => object.kind === kind);
  if (!found) throw new Error(`no ${kind}`);
  return found;
}

const pod = (): unknown => valueAt(rendered('Deployment'), 'spec', 'template', 'spec');
const container = (): unknown => listAt(pod(), 'containers')[0];

describe('the chart of kubenode-console', () => {
  it('CON-26 renders an account without rights first, and the pods after their limits', () => {
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ServiceAccount',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Deployment',
      'Service',
    ]);
    for (const { metadata } of objects) {
      expect(metadata).toMatchObject({ name: 'kubenode-console', namespace: 'kubenode-system' });
    }
  });

  it('CON-26 gives the pod no token, and the authority of the API server only', () => {
    expect(rendered('ServiceAccount')['automountServiceAccountToken']).toBe(false);
    expect(pod()).toMatchObject({
      automountServiceAccountToken: false,
      serviceAccountName: 'kubenode-console',
    });
    expect(listAt(pod(), 'volumes')).toContainEqual({
      name: 'authority',
      configMap: { name: 'kube-root-ca.crt' },
    });
    expect(container()).toMatchObject({
      env: expect.arrayContaining([
        { name: 'KUBENODE_SERVICE_ACCOUNT_FOLDER', value: AUTHORITY_FOLDER },
      ]) as unknown,
      volumeMounts: expect.arrayContaining([
        { name: 'authority', mountPath: AUTHORITY_FOLDER, readOnly: true },
      ]) as unknown,
      securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    });
  });

  it('runs one pod, whose memory has the sessions, and probes the port of the page', () => {
    expect(valueAt(rendered('Deployment'), 'spec', 'replicas')).toBe(1);
    const probe = { httpGet: { path: '/readyz', port: 8484 } };
    expect(container()).toMatchObject({
      ports: [{ containerPort: 8484, name: 'page' }],
      readinessProbe: probe,
    });
    expect(listAt(container(), 'args').slice(-4)).toEqual(['--port', '8484', '--host', '$(POD_IP)']);
  });

  it('CON-26 is reached on the port of the page only, and reaches API servers only', () => {
    expect(valueAt(rendered('NetworkPolicy'), 'spec')).toMatchObject({
      ingress: [{ ports: [{ port: 8484, protocol: 'TCP' }] }],
      egress: [{ ports: [{ port: 443 }, { port: 6443 }] }],
    });
    expect(valueAt(rendered('Service'), 'spec')).toMatchObject({
      selector: valueAt(rendered('Deployment'), 'spec', 'selector', 'matchLabels') as object,
      ports: [{ port: 80, targetPort: 8484 }],
    });
  });

  it('has an account that an installation without the console does not prune', () => {
    const account = rendered('ServiceAccount');
    expect(planPrune([account], []).map(({ act }) => act)).toEqual(['keep']);
  });

  it('has no metrics, and no Service for them', () => {
    const names = renderMetrics([CONSOLE, CONTROLLERS], 'operator').map(({ metadata }) => metadata.name);
    expect(names).toContain('kubenode-controllers-metrics');
    expect(names).not.toContain('kubenode-console-metrics');
  });
});
