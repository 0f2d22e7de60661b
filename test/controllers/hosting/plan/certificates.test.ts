import { describe, expect, it } from 'vitest';
import type { MemberReport } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planReload, planRenewal } from '../../../../src/controllers/hosting/plan/certificates.ts';
import type { HostingDecision } from '../../../../src/controllers/hosting/plan/input.ts';
import { NOW } from '../../../support/builders.ts';
import {
  certificates,
  daysFromNow,
  decisionText,
  hostingInput,
  type InputParts,
  members,
} from '../../../support/hosting/objects.ts';

const MINUTE_DAYS = 1 / 1440;

function text(decision: HostingDecision | undefined): string {
  return decision ? decisionText(decision) : 'nothing';
}

function minutesAgo(minutes: number): Date {
  return daysFromNow(-minutes * MINUTE_DAYS);
}

describe('the renewal of certificates', () => {
  it.each([
    ['none is due', {}, 'nothing'],
    [
      'one is missing',
      { sync: { due: 'it is missing', issuedAt: undefined } },
      'Prepare: the certificate sync is due: it is missing',
    ],
    [
      'its time has come',
      { etcd: { due: 'it expires' } },
      'Prepare: the certificate etcd is due: it expires',
    ],
    ['two are due', { etcd: { due: 'a' }, sync: { due: 'b' } }, 'Prepare: the certificate etcd is due: a'],
    [
      'it was issued in the last minute, and is due again',
      { etcd: { due: 'a', issuedAt: minutesAgo(0.9) } },
      'nothing',
    ],
    [
      'it was issued a minute ago',
      { etcd: { due: 'a', issuedAt: minutesAgo(1) } },
      'Prepare: the certificate etcd is due: a',
    ],
    [
      'it was issued in the future',
      { etcd: { due: 'a', issuedAt: minutesAgo(-9) } },
      'Prepare: the certificate etcd is due: a',
    ],
    ['a CA ends', { ca: { notAfter: NOW } }, 'nothing'],
  ])('HOS-21 is planned for a member when %s', (_, but, expected) => {
    expect(text(planRenewal(hostingInput({ plane: { certificates: certificates(but) } })))).toBe(expected);
  });
});

/** A member that serves A1, and whose file has B2 since so many minutes. */
function ignoring(minutes: number, startedMinutesAgo: number, more: Partial<MemberReport> = {}): InputParts {
  const certificate = { serial: 'A1', expectedSerial: 'B2', notAfter: daysFromNow(90) };
  const report = { certificate, starts: [minutesAgo(9000), minutesAgo(startedMinutesAgo)], ...more };
  const plane = {
    members: members({ 'kube-scheduler': report }),
    certificates: certificates({ apiserver: { issuedAt: minutesAgo(minutes) } }),
  };
  return { plane };
}

const STOP = `Stop kube-scheduler: it ignores the certificate that was issued at ${minutesAgo(3).toISOString()}`;

/** Returns what is planned for pods, whose files the kubelet writes. */
function plannedForPods(minutes: number): string {
  const { plane } = ignoring(minutes, 60);
  return text(
    planReload(hostingInput({ plane: { ...plane, place: 'Namespace', where: 'namespace kn-ci' } })),
  );
}

describe('the restart of a member that ignores its certificate', () => {
  it.each<readonly [string, InputParts, string]>([
    ['it serves what is in its file', {}, 'nothing'],
    ['it has had less than three minutes', ignoring(2.9, 60), 'nothing'],
    ['it has had three minutes', ignoring(3, 60), STOP],
    ['it was started after the issue', ignoring(60, 59), 'stalled OldCertificateServed'],
    ['its starts are not known', ignoring(3, 60, { starts: [] }), STOP],
    ['the kill switch is engaged', { ...ignoring(3, 60), input: { halt: 'ann' } }, 'wait KillSwitch'],
  ])('HOS-21 is planned for a member when %s', (_, parts, expected) => {
    expect(text(planReload(hostingInput(parts)))).toBe(expected);
  });

  it('HOS-21 waits for the kubelet as well, where members are pods', () => {
    expect([plannedForPods(4.9), plannedForPods(5)]).toEqual([
      'nothing',
      expect.stringMatching(/^Stop kube-scheduler/),
    ]);
  });

  it('HOS-21 waits while another member does not answer, so that one is down at a time', () => {
    const { plane } = ignoring(3, 60);
    const all = (plane?.members ?? []).map((each) =>
      each.member === 'etcd' ? { ...each, state: 'Starting' as const } : each,
    );
    expect(text(planReload(hostingInput({ plane: { ...plane, members: all } })))).toBe('nothing');
  });

  it('HOS-21 is of one member at a time, and of none whose file cannot be read', () => {
    const certificate = { serial: 'A1', expectedSerial: 'B2', notAfter: daysFromNow(90) };
    const both = members({ 'kube-apiserver': { certificate }, 'kube-scheduler': { certificate } });
    const old = certificates({ apiserver: { issuedAt: minutesAgo(5) } });
    const planned = planReload(hostingInput({ plane: { members: both, certificates: old } }));
    expect(text(planned)).toMatch(/^Stop kube-apiserver: /);
    const unreadable = certificates({ apiserver: { issuedAt: undefined } });
    expect(text(planReload(hostingInput({ plane: { members: both, certificates: unreadable } })))).toBe(
      'nothing',
    );
  });
});
