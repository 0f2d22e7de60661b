import { describe, expect, it } from 'vitest';
import {
  type KubeletTrustInput,
  kubeletTrust,
  type ReportedUnits,
} from '../../../src/agent/authorities/kubelet.ts';
import { IDENTITY_KUBECONFIG } from '../../../src/agent/layout.ts';
import { agentUnit } from '../../support/agent/targets.ts';
import { NOW } from '../../support/virtual-clock.ts';

const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);

const ARGV = ['/opt/kubelet', `--kubeconfig=${IDENTITY_KUBECONFIG}`];

/** A kubelet whose start is its identity. */
function kubelet(
  startedMinutesAgo?: number,
  identity: 'Kubelet' | 'None' = 'Kubelet',
  argv: readonly string[] = ARGV,
): ReportedUnits {
  const startedAt = startedMinutesAgo === undefined ? undefined : ago(startedMinutesAgo).toISOString();
  const process =
    startedAt === undefined ? {} : { process: { pid: 1, startId: String(startedMinutesAgo), startedAt } };
  const units = [agentUnit('kubelet', { exec: { argv, env: {}, user: 'root' } })];
  return { current: { identity, files: [], units }, units: new Map([['kubelet', process]]) };
}

function followed(
  changedMinutesAgo: number,
  isApplied = true,
  outdated?: readonly string[],
): KubeletTrustInput['followed'] {
  const changedAt = ago(changedMinutesAgo).toISOString();
  return { isApplied, changedAt, issuer: 'new', ...(outdated && { outdated }) };
}

function certificate(
  minutesAgo: number,
  issuer: string | undefined = 'new',
): KubeletTrustInput['certificate'] {
  return { issuer, writtenAt: ago(minutesAgo) };
}

const BASE: KubeletTrustInput = {
  components: [kubelet(5)],
  followed: followed(10),
  certificate: certificate(20),
  moment: { bootId: 'boot-1', now: NOW },
};

describe('kubeletTrust', () => {
  it.each<[what: string, parts: Partial<KubeletTrustInput>, expected: string]>([
    ['a kubelet that started after the change', {}, 'Current'],
    ['a host without components', { components: [] }, 'None'],
    ['a host without a kubelet', { components: [kubelet(5, 'None')] }, 'None'],
    ['a component that is not installed', { components: [{ units: new Map() }] }, 'None'],
    ['a cluster that publishes nothing', { followed: undefined, certificate: undefined }, 'Current'],
    [
      'a kubelet with another kubeconfig',
      { components: [kubelet(5, 'Kubelet', ['/opt/kubelet', '--kubeconfig=/etc/kubelet.conf'])] },
      'Foreign',
    ],
    [
      'a kubelet with another kubeconfig where nothing is published',
      { components: [kubelet(5, 'Kubelet', ['/opt/kubelet'])], followed: undefined },
      'Foreign',
    ],
    [
      'a kubelet that ran when they changed',
      { followed: followed(10, true, ['boot-1 1 5']) },
      'RestartPending',
    ],
    [
      'a kubelet that was started since, with a clock that was set back',
      { components: [kubelet(11)], followed: followed(10, true, ['boot-1 1 5']) },
      'Current',
    ],
    ['a kubelet that is dated in the future', { components: [kubelet(-1)] }, 'RestartPending'],
    [
      'a certificate that is dated before a start in the future',
      {
        components: [kubelet(-1)],
        followed: followed(10, true, []),
        certificate: certificate(3),
      },
      'CertificatePending',
    ],
    ['a kubelet that started before the change', { components: [kubelet(11)] }, 'RestartPending'],
    ['a kubelet that started in the moment of the change', { components: [kubelet(10)] }, 'RestartPending'],
    ['one of two kubelets', { components: [kubelet(5), kubelet(11)] }, 'RestartPending'],
    ['a kubelet that does not run: it reads the file when it starts', { components: [kubelet()] }, 'Current'],
    ['a file that is not written yet', { followed: followed(10, false) }, 'RestartPending'],
    ['no certificate', { certificate: undefined }, 'CertificatePending'],
    ['a certificate of the former authority', { certificate: certificate(20, 'old') }, 'CertificatePending'],
    [
      'a certificate of an unknown authority',
      { certificate: { issuer: undefined, writtenAt: ago(20) } },
      'CertificatePending',
    ],
    ['a new certificate that it may not have read', { certificate: certificate(3) }, 'CertificatePending'],
    [
      'a new certificate that it has read by now',
      { certificate: certificate(6), components: [kubelet(9)] },
      'Current',
    ],
    [
      'a new certificate from before its start',
      { certificate: certificate(3), components: [kubelet(2)] },
      'Current',
    ],
  ])('HOS-22 counts a kubelet only when it uses what is followed: %s', (_, parts, expected) => {
    expect(kubeletTrust({ ...BASE, ...parts })).toBe(expected);
  });
});
