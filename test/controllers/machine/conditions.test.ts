import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { entriesDigest } from '../../../src/api/machine/entry-report.ts';
import { hostFindings, reportedFinding } from '../../../src/controllers/machine/conditions.ts';
import { ago, condition, machine } from '../../support/builders.ts';
import { type ObservationParts, observation } from '../../support/machine-observations.ts';

function explain(type: string, parts: ObservationParts): string {
  const found = hostFindings(observation(parts)).find((each) => each.type === type);
  const { kind, name, namespace } = found?.blocker ?? {};
  const blocker = kind ? ` ${kind}/${namespace ? `${namespace}/` : ''}${name}` : '';
  return `${found?.status} ${found?.reason}${blocker}`;
}

const certificate = (seconds: number): ObservationParts => ({
  status: { agent: { certificateNotAfter: ago(-seconds) } },
});
const agentWas = (
  status: 'True' | 'False' | 'Unknown',
  ageMs: number,
  hasChanged: boolean,
  unreportedMs = 0,
): ObservationParts => ({
  reported: { AgentReady: status },
  heartbeat: { ageMs, hasChanged, unreportedMs },
});

describe('hostFindings', () => {
  it.each<[name: string, type: string, parts: ObservationParts, want: string]>([
    ['a valid certificate', 'CertificateIssued', certificate(3600), 'True AsWanted'],
    ['a certificate that is about to expire', 'CertificateIssued', certificate(179), 'False NotRenewed'],
    [
      'a certificate of the shortest life that is due for renewal',
      'CertificateIssued',
      certificate(211),
      'True AsWanted',
    ],
    ['an expired certificate', 'CertificateIssued', certificate(-1), 'False Expired'],
    ['a heartbeat before the certificate is reported', 'CertificateIssued', {}, 'True InUse'],
    [
      'neither certificate nor heartbeat',
      'CertificateIssued',
      { heartbeat: 'Missing' },
      'False NoToken Machine/m',
    ],
    ['no Lease', 'AgentReady', { heartbeat: 'Missing' }, 'False NoHeartbeat Lease/kubenode-agents/m'],
    ['a Lease that is renewed', 'AgentReady', agentWas('Unknown', 0, true), 'True AsWanted'],
    ['a Lease of 45 seconds', 'AgentReady', agentWas('True', 45_000, true), 'True AsWanted'],
    [
      'a Lease that is not renewed',
      'AgentReady',
      agentWas('True', 45_001, true),
      'Unknown AgentSilent Lease/kubenode-agents/m',
    ],
    [
      'a Lease that is not renewed, as those of many others',
      'AgentReady',
      agentWas('True', 45_001, true, 1),
      'True AsWanted',
    ],
    [
      'a live agent, after a restart of the controllers',
      'AgentReady',
      agentWas('True', 0, false),
      'True AsWanted',
    ],
    [
      'a dead agent, after a restart of the controllers',
      'AgentReady',
      agentWas('Unknown', 0, false),
      'Unknown AgentSilent Lease/kubenode-agents/m',
    ],
    [
      'a dead agent that seemed alive before a restart',
      'AgentReady',
      agentWas('True', 45_001, false),
      'Unknown AgentSilent Lease/kubenode-agents/m',
    ],
    ['no Node', 'NodeReady', { node: 'Missing' }, 'False NodeMissing Node/m'],
    ['a Node that is Ready', 'NodeReady', {}, 'True AsWanted'],
    ['a Node that is not Ready', 'NodeReady', { node: 'False' }, 'False NodeNotReady Node/m'],
    ['a Node whose kubelet is silent', 'NodeReady', { node: 'Unknown' }, 'Unknown NodeNotReady Node/m'],
    ['labels that are on the Node', 'NodeSynced', {}, 'True AsWanted'],
    ['labels that are to be written', 'NodeSynced', { isSynced: false }, 'False Writing Node/m'],
    [
      'labels that a person keeps from being written',
      'NodeSynced',
      { isSynced: false, spec: { hold: { reason: 'forensics', scope: 'All' } } },
      'False HeldAll Node/m',
    ],
    ['labels without a Node', 'NodeSynced', { node: 'Missing' }, 'Unknown NodeMissing Node/m'],
  ])('judges %s', (...[, type, parts, want]) => {
    expect(explain(type, parts)).toBe(want);
  });

  it('MAC-17 names the keys that others have set', () => {
    const spec = { node: { labels: { 'kubernetes.io/hostname': 'other' }, taints: [] } };
    const found = hostFindings(observation({ spec })).find(({ type }) => type === 'NodeSynced');
    expect(found).toMatchObject({ status: 'False', reason: 'KeysOfOthers' });
    expect(found?.message).toContain('label kubernetes.io/hostname');
  });
});

const reported = (type: string, observedGeneration: number, reason = 'Healthy'): Machine =>
  machine('m', {
    metadata: { generation: 2 },
    status: { conditions: [condition(type, 'True', { observedGeneration, reason })] },
  });

const older = reported('UpToDate', 1);
const settled: Machine = {
  ...older,
  status: {
    conditions: older.status?.conditions ?? [],
    agent: { observedGeneration: 1, entriesDigest: entriesDigest(older.spec) },
  },
};

describe('reportedFinding', () => {
  it.each([
    ['of this generation', reported('UpToDate', 2), 'UpToDate', 'True Healthy'],
    [
      'of an older generation, where it compares with the spec',
      reported('UpToDate', 1),
      'UpToDate',
      'Unknown NotReported',
    ],
    ['of an older generation, since which only grants were taken away', settled, 'UpToDate', 'True Healthy'],
    [
      'of an older generation, where it does not',
      reported('ComponentsReady', 1),
      'ComponentsReady',
      'True Healthy',
    ],
    ['that is missing', reported('Other', 2), 'UpToDate', 'Unknown NotReported'],
    ['with a reason that we cannot write', reported('UpToDate', 2, 'not_ours'), 'UpToDate', 'True NotReady'],
  ])('reads a condition %s', (...[, object, type, want]) => {
    const { status, reason } = reportedFinding(object, type, 'missing');
    expect(`${status} ${reason}`).toBe(want);
  });
});
