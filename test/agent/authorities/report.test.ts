import { describe, expect, it } from 'vitest';
import { reportAuthorities } from '../../../src/agent/authorities/report.ts';
import { IDENTITY_KUBECONFIG } from '../../../src/agent/layout.ts';
import { agentUnit } from '../../support/agent/targets.ts';
import { NOW } from '../../support/virtual-clock.ts';

const exec = { argv: ['/opt/kubelet', `--kubeconfig=${IDENTITY_KUBECONFIG}`], env: {}, user: 'root' };
const TARGET = { identity: 'Kubelet' as const, files: [], units: [agentUnit('kubelet', { exec })] };
const KUBELET = { current: TARGET, units: new Map() };
const MOMENT = { bootId: 'boot-1', now: NOW };
const REPORT = { managed: true, trusted: ['a'], issuer: 'a' };

function follower(report: typeof REPORT | undefined): Parameters<typeof reportAuthorities>[0] {
  return { followed: () => undefined, kubelet: () => undefined, report: () => report };
}

describe('reportAuthorities', () => {
  it('HOS-22 reports nothing before the host was read once', () => {
    expect(reportAuthorities(follower(undefined), [KUBELET], MOMENT)).toEqual({});
  });

  it('HOS-22 reports the authorities with the kubelet that uses them', () => {
    expect(reportAuthorities(follower(REPORT), [KUBELET], MOMENT)).toEqual({
      authorities: { ...REPORT, kubelet: 'Current' },
    });
    expect(reportAuthorities(follower(REPORT), [], MOMENT).authorities?.kubelet).toBe('None');
  });

  it('HOS-22 reports that another program keeps the certificate of the agent', () => {
    expect(reportAuthorities(undefined, [], MOMENT)).toEqual({
      authorities: { managed: false, trusted: [], kubelet: 'None' },
    });
  });
});
