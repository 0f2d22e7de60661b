import { describe, expect, it } from 'vitest';
import type { UnitStatus } from '../../../src/agent/host/port.ts';
import { NO_DRIFT } from '../../../src/agent/journal/drift.ts';
import { NEVER } from '../../../src/agent/journal/progress.ts';
import type { Transition } from '../../../src/agent/journal/record.ts';
import { type ReportedComponent, reportState, reportStatus } from '../../../src/agent/status/report.ts';
import { present } from '../../support/agent/component-driver.ts';
import { V1, V2 } from '../../support/agent/component-input.ts';
import { NOW } from '../../support/virtual-clock.ts';

const RUNS: UnitStatus = { defined: true, enabled: true, masked: false, active: 'Active', restarts: 2 };
const SUSPENDED = { pid: 7, startId: '1', startedAt: NOW.toISOString(), isSuspended: true } as const;
const FORWARD: Transition = {
  step: 'Staged',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'b',
  boots: 0,
};
const PROGRESS = {
  component: 'proxy',
  state: 'Committed',
  current: V1.id,
  denied: [],
  history: [],
  since: NOW.toISOString(),
} as const;

function component(fields: Partial<ReportedComponent> = {}): ReportedComponent {
  return {
    desired: present(V1),
    entry: { componentRef: 'proxy-1.0', digest: V1.digest },
    progress: PROGRESS,
    drift: NO_DRIFT,
    findings: [],
    current: V1,
    units: new Map([['proxy', RUNS]]),
    ready: true,
    ...fields,
  };
}

function conditions(fields: Partial<ReportedComponent>, refused?: string): readonly string[] {
  const components = new Map([['proxy', component(fields)]]);
  const status = reportStatus({
    components,
    generation: 1,
    now: NOW,
    ...(refused !== undefined && { refused }),
  });
  return status.conditions.map(({ type, status: value, message }) => `${type} ${value}: ${message}`);
}

function unwatchedDrift(fields: Partial<ReportedComponent>): string | undefined {
  const input = { components: new Map([['proxy', component(fields)]]), generation: 1, now: NOW };
  const { conditions: found } = reportStatus({ ...input, unwatched: 'files are not watched' });
  return found.find(({ type }) => type === 'DriftDetected')?.message;
}

function sinceOf(fields: Partial<ReportedComponent>): string | undefined {
  const components = new Map([['proxy', component(fields)]]);
  return reportStatus({ components, generation: 1, now: NOW }).components[0]?.since;
}

const GOOD = [
  'ComponentsReady True: every component is committed and runs',
  'UpToDate True: every component is at its entry',
  'DriftDetected False: no difference was found',
];
const WAIT = { reason: 'GrantNeeded', message: 'staged: waits for a grant' } as const;

describe('reportState', () => {
  it.each<[string, Partial<Transition> | undefined, ReportedComponent['wait'], string]>([
    ['a version in force', undefined, undefined, 'Committed'],
    ['a restart that waits for a grant', undefined, WAIT, 'WaitingForGrant'],
    ['a removed entry', undefined, { reason: 'Orphaned', message: '' }, 'Orphaned'],
    ['a download', { step: 'Fetching' }, undefined, 'Fetching'],
    ['a staged version', { step: 'Staged' }, WAIT, 'WaitingForGrant'],
    [
      'a staged version that waits for a drain',
      { step: 'Staged' },
      { reason: 'DrainPending', message: '' },
      'WaitingForDrain',
    ],
    ['a staged version that is held', { step: 'Staged' }, { reason: 'Held', message: '' }, 'Staged'],
    ['a dependency', { step: 'Staged' }, { reason: 'DependencyNotCommitted', message: '' }, 'Blocked'],
    ['an activation', { step: 'Swapped' }, undefined, 'Activating'],
    ['a probation', { step: 'Probation' }, { reason: 'ProbesPending', message: '' }, 'Probation'],
    ['a rollback', { step: 'Probation', direction: 'Back' }, undefined, 'RollingBack'],
  ])('of %s', (_, transition, wait, expected) => {
    const progress = { ...PROGRESS, ...(transition && { transition: { ...FORWARD, ...transition } }) };
    expect(reportState({ progress, ...(wait && { wait }) })).toBe(expected);
  });
});

describe('AGT-60 reports each component, its drift and its conditions', () => {
  it('is all good for what is committed and runs', () => {
    expect(conditions({})).toEqual(GOOD);
  });

  it('AGT-30 states beside the drift that files are not watched, whatever was found', () => {
    const findings = [{ subject: '/a', kind: 'Content', action: 'Reported', because: '/a differs' }] as const;
    expect(unwatchedDrift({})).toBe('no difference was found; files are not watched');
    expect(unwatchedDrift({ findings })).toBe('/a differs; files are not watched');
  });

  it.each<[name: string, fields: Partial<ReportedComponent>, expected: readonly string[]]>([
    ['a stopped unit', { units: new Map() }, ['ComponentsReady False: proxy does not run']],
    ['a failing probe', { ready: false }, ['ComponentsReady False: probes of proxy fail']],
    [
      'a failure',
      { failure: { code: 'DiskFull', message: 'the disk is full' }, ready: false },
      ['ComponentsReady False: proxy is Committed: the disk is full'],
    ],
    ['another entry', { desired: present(V2) }, ['UpToDate False: proxy is not at its entry']],
    [
      'a difference that a person decides about',
      { findings: [{ subject: '/a', kind: 'Content', action: 'Reported', because: '/a has other content' }] },
      ['DriftDetected True: /a has other content'],
    ],
    [
      'a unit whose process a signal has stopped',
      { units: new Map([['proxy', { ...RUNS, process: SUSPENDED }]]) },
      ['ComponentsReady False: proxy does not run'],
    ],
    [
      'a fight',
      { findings: [{ subject: '/a', kind: 'Content', action: 'GaveUp', because: '/a has other content' }] },
      [
        'DriftDetected True: /a has other content. Another program changes it again and again: stop that program, which this finds: auditctl -p wa -w /a',
      ],
    ],
    [
      'a fight over a unit',
      { findings: [{ subject: 'web', kind: 'Unit', action: 'GaveUp', because: 'unit web is masked' }] },
      [
        'DriftDetected True: unit web is masked. Another program changes it again and again: stop that program, which this finds: auditctl -p wa -w /etc/systemd/system',
      ],
    ],
    [
      'a unit that starts another program',
      {
        findings: [
          { subject: 'web', kind: 'Process', action: 'GaveUp', because: 'web started on wrong content' },
        ],
      },
      [
        'DriftDetected True: web started on wrong content, and a restart does not change that: see what else decides which program it starts, for example a drop-in, with: systemctl cat web',
      ],
    ],
    [
      'a unit that does not run, before what is only reported',
      {
        findings: [
          { subject: '/a', kind: 'Content', action: 'Reported', because: '/a has other content' },
          { subject: 'web', kind: 'Run', action: 'Waiting', because: 'web does not run: started 4 times' },
        ],
      },
      ['DriftDetected True: web does not run: started 4 times'],
    ],
  ])('reports %s', (_, fields, expected) => {
    expect(conditions(fields).filter((each) => !GOOD.includes(each))).toEqual(expected);
  });

  it('is Unknown before probes ran, and names why the newest state is not accepted', () => {
    const { ready: _ready, ...unprobed } = component();
    const status = reportStatus({ components: new Map([['proxy', unprobed]]), generation: 1, now: NOW });
    expect(status.conditions[0]).toMatchObject({ status: 'Unknown', reason: 'ProbesPending' });
    expect(conditions({}, 'no such MachineComponent')[1]).toBe('UpToDate False: no such MachineComponent');
  });

  it('is Unknown, and never good, before a state of the Machine was accepted', () => {
    const status = reportStatus({
      components: new Map(),
      generation: 0,
      now: NOW,
      missing: 'no certificate',
    });
    expect(
      status.conditions.map(({ type, status: value, reason, message }) => [type, value, reason, message]),
    ).toEqual([
      ['ComponentsReady', 'Unknown', 'NoDesiredState', 'no certificate'],
      ['UpToDate', 'Unknown', 'NoDesiredState', 'no certificate'],
      ['DriftDetected', 'Unknown', 'NoDesiredState', 'no certificate'],
    ]);
  });

  it('dates a component without a record from its wait', () => {
    const wait = { reason: 'InvalidEntry', message: 'another digest' } as const;
    const progress = { ...PROGRESS, since: NEVER };
    expect(sinceOf({ progress, wait })).toBe(NOW.toISOString());
    expect(sinceOf({ progress })).toBeUndefined();
  });

  it('keeps the time at which a wait began while its reason is the same', () => {
    const first = reportStatus({
      components: new Map([['proxy', component({ wait: WAIT })]]),
      generation: 1,
      now: NOW,
    });
    const later = new Date(NOW.getTime() + 60_000);
    const again = reportStatus({
      components: new Map([['proxy', component({ wait: { ...WAIT, message: 'other' } })]]),
      generation: 1,
      now: later,
      before: first,
    });
    expect(again.components[0]?.waiting).toEqual({
      reason: 'GrantNeeded',
      since: NOW.toISOString(),
      message: 'other',
    });
  });

  it('AGT-60 stays within 16 KiB with 32 components and long errors, and keeps what each of them is', () => {
    const failure = { code: 'Download', message: 'ü'.repeat(5000) };
    const wait = { reason: 'Denied', message: 'x'.repeat(5000) } as const;
    const denied = ['1', '2', '3', '4'].map((each) => `sha256:${each.repeat(64)}`);
    const names = Array.from({ length: 32 }, (_, index) => `component-${index}`);
    const bad = component({ failure, wait, ready: false });
    const status = reportStatus({
      components: new Map(
        names.map((name) => [name, { ...bad, progress: { ...PROGRESS, component: name, denied } }]),
      ),
      generation: 1,
      now: NOW,
    });
    expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThanOrEqual(16 * 1024);
    expect(status.components).toHaveLength(32);
    expect(status.components[31]).toMatchObject({
      state: 'Committed',
      currentRef: 'proxy-1.0',
      error: { code: 'Download' },
      waiting: { reason: 'Denied' },
    });
  });
});
