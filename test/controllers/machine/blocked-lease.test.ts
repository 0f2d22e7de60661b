import { describe, expect, it } from 'vitest';
import { planBlockedLease } from '../../../src/controllers/machine/blocked-lease.ts';
import { machine } from '../../support/builders.ts';

type Labels = Readonly<Record<string, string>>;

const KEY = 'kubenode.dev/agent-blocked';
const PATH = '/metadata/labels/kubenode.dev~1agent-blocked';

function plan(blocked: Labels, labels: Labels | undefined) {
  const metadata = { name: 'm', ...(labels === undefined ? {} : { labels }) };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
  const made = machine('m');
  return planBlockedLease({ ...made, metadata: { ...made.metadata, labels: blocked } }, lease);
}

describe('planBlockedLease', () => {
  const blocked = { [KEY]: 'CertificateLost' };
  it.each<[string, Labels, Labels | undefined, object[]]>([
    ['leaves the Lease of an agent that may write', {}, undefined, []],
    ['leaves one that is marked', blocked, blocked, []],
    [
      'marks a Lease without labels',
      blocked,
      undefined,
      [{ op: 'add', path: '/metadata/labels', value: blocked }],
    ],
    ['keeps labels of others', blocked, { team: 'a' }, [{ op: 'add', path: PATH, value: 'CertificateLost' }]],
    [
      'takes another reason',
      blocked,
      { [KEY]: 'Stolen' },
      [{ op: 'add', path: PATH, value: 'CertificateLost' }],
    ],
    ['lets the agent write again', {}, blocked, [{ op: 'remove', path: PATH }]],
  ])('%s', (_, machineLabels, labels, expected) => {
    expect(plan(machineLabels, labels)).toEqual(expected);
  });
});
