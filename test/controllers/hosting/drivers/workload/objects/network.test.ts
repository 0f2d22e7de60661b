import { describe, expect, it } from 'vitest';
import { MEMBERS } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { memberLabels } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import {
  planePolicies,
  planeServices,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/network.ts';
import { memberPort } from '../../../../../../src/controllers/hosting/drivers/workload/ports.ts';
import { withAddresses } from '../../../../../../src/controllers/hosting/drivers/workload/record.ts';
import {
  parseWorkloadRecord,
  recordObject,
} from '../../../../../../src/controllers/hosting/drivers/workload/record-object.ts';
import { isRecord, listAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

type Member = (typeof MEMBERS)[number];

const policies = planePolicies(planeRecord());

function selects(policy: KubeObject, member: Member): boolean {
  const labels = memberLabels('ci', member);
  return covers(valueAt(policy, 'spec', 'podSelector'), labels);
}

function covers(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const labelsOf = valueAt(selector, 'matchLabels') ?? {};
  return isRecord(labelsOf) && Object.entries(labelsOf).every(([name, value]) => labels[name] === value);
}

/** A pod of the same namespace. */
function lets(rule: unknown, field: 'from' | 'to', other: Member, port: number): boolean {
  const ports = listAt(rule, 'ports').map((each) => valueAt(each, 'port'));
  const peers = listAt(rule, field);
  const isPeer = peers.some(
    (peer) =>
      valueAt(peer, 'namespaceSelector') === undefined &&
      covers(valueAt(peer, 'podSelector'), memberLabels('ci', other)),
  );
  return (ports.length === 0 || ports.includes(port)) && (peers.length === 0 || isPeer);
}

function connects(from: Member, to: Member): boolean {
  const port = memberPort(to, 6443);
  const out = policies.filter((policy) => selects(policy, from));
  const into = policies.filter((policy) => selects(policy, to));
  const leaves = out.some((policy) =>
    listAt(policy, 'spec', 'egress').some((rule) => lets(rule, 'to', to, port)),
  );
  const enters = into.some((policy) =>
    listAt(policy, 'spec', 'ingress').some((rule) => lets(rule, 'from', from, port)),
  );
  return leaves && enters;
}

describe('planePolicies', () => {
  it('HOS-43 lets members connect to what they need, and to nothing else', () => {
    const matrix = MEMBERS.map((from) => [from, MEMBERS.filter((to) => to !== from && connects(from, to))]);
    expect(Object.fromEntries(matrix)).toEqual({
      etcd: [],
      'kube-apiserver': ['etcd'],
      'kube-controller-manager': ['kube-apiserver'],
      'kube-scheduler': ['kube-apiserver'],
      'kubenode-controllers': ['kube-apiserver'],
    });
  });

  it('HOS-43 denies every other pod of the namespace everything', () => {
    const [first] = policies;
    expect(first?.['spec']).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    expect(policies.every((policy) => listAt(policy, 'spec', 'policyTypes').length === 2)).toBe(true);
  });

  it('HOS-43 lets pods of other namespaces reach only the API server, but hosting also the others', () => {
    const open = MEMBERS.filter((member) =>
      policies
        .filter((policy) => selects(policy, member))
        .some((policy) =>
          listAt(policy, 'spec', 'ingress').some((rule) => listAt(rule, 'from').length === 0),
        ),
    );
    expect(open).toEqual(['kube-apiserver']);
    const named = JSON.stringify(policies).match(/"app.kubernetes.io\/component":"[a-z]+"/g) ?? [];
    expect(new Set(named)).toEqual(new Set(['"app.kubernetes.io/component":"hosting"']));
  });
});

describe('planeServices', () => {
  it('exposes the API server as the spec chooses, and etcd never', () => {
    const exposure = { type: 'LoadBalancer', port: 443 } as const;
    const services = planeServices(planeRecord({ exposure }));
    expect(services.map(({ metadata, spec }) => [metadata.name, valueAt(spec, 'type')])).toEqual([
      ['etcd', 'ClusterIP'],
      ['kube-apiserver', 'LoadBalancer'],
    ]);
    expect(valueAt(listAt(services[1], 'spec', 'ports')[0], 'port')).toBe(443);
  });
});

it('HOS-33 a Service that is made again has the address that is recorded, and a new one has none', () => {
  const record = withAddresses(planeRecord(), { etcd: '10.0.0.2' });
  expect(withAddresses(record, { etcd: '10.0.0.9' })).toBe(record);
  const addresses = planeServices(record).map((service) => valueAt(service, 'spec', 'clusterIP'));
  expect(addresses).toEqual(['10.0.0.2', undefined]);
  expect(parseWorkloadRecord(recordObject(record))).toEqual(record);
});
