import { describe, expect, it } from 'vitest';
import type { ComponentInput } from '../../../../src/agent/component/input.ts';
import type { ComponentObservation } from '../../../../src/agent/component/observe.ts';
import { planComponent } from '../../../../src/agent/component/plan.ts';
import type { UnitStatus } from '../../../../src/agent/host/port.ts';
import { applyDrift, type ComponentDrift, NO_DRIFT } from '../../../../src/agent/journal/drift.ts';
import type { DriftKind } from '../../../../src/agent/journal/record.ts';
import { FREE, present } from '../../../support/agent/component-driver.ts';
import { componentInput, explainPlan, installed, V1 } from '../../../support/agent/component-input.ts';
import { agentFile, agentUnit, target } from '../../../support/agent/targets.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const CONFIG = '/etc/proxy/proxy.conf';
const PROGRAM = `${V1.directory}/proxy`;
const PROCESS = { pid: 7, startId: 'p1', startedAt: NOW.toISOString(), programDigest: 'good' };
const RUNS: UnitStatus = {
  defined: true,
  enabled: true,
  masked: false,
  active: 'Active',
  restarts: 0,
  process: PROCESS,
};
const { process: _process, ...STOPPED } = { ...RUNS, active: 'Inactive' as const };
const ROOT = 'root:root';

function drift(...records: readonly Parameters<typeof applyDrift>[1][]): ComponentDrift {
  return records.reduce(applyDrift, NO_DRIFT);
}

function started(content: 'Right' | 'Wrong', startId = 'p1'): Parameters<typeof applyDrift>[1] {
  return { type: 'Process', component: 'proxy', at: NOW.toISOString(), unit: 'proxy', startId, content };
}

function corrected(
  subject: string,
  secondsAgo: number,
  kind: DriftKind = 'Content',
): Parameters<typeof applyDrift>[1] {
  const at = new Date(NOW.getTime() - secondsAgo * 1000).toISOString();
  return { type: 'Correction', component: 'proxy', at, subject, kind, total: 1 };
}

const KUBELET = { ...V1, identity: 'Kubelet' as const };
const DELETED_AT = new Date(NOW.getTime() + 1000);
const NO_NODE: Partial<ComponentInput> = {
  brakes: { ...FREE, nodeMissingSince: DELETED_AT },
  now: new Date(NOW.getTime() + 60_000),
};

/** The kubelet of the host started with other authorities. */
const ROTATED: Partial<ComponentInput> = {
  brakes: { ...FREE, authorities: { changedAt: DELETED_AT, outdated: ['boot-1 7 p1'] } },
};
const ROTATED_BECAUSE = `unit proxy started before the authorities of its cluster changed (${DELETED_AT.toISOString()})`;

interface Case {
  readonly of?: typeof V1;
  readonly unit?: UnitStatus;
  readonly file?: Partial<{ content: string; mode: string; owner: string }>;
  readonly without?: string;
  readonly observed?: Partial<ComponentObservation>;
  readonly drift?: ComponentDrift;
  readonly input?: Partial<ComponentInput>;
}

const GRANT = { id: 'g', entryDigest: V1.id, expired: false };
const NO_GRANT: Partial<ComponentInput> = { desired: { state: 'Present', target: V1 } };

function plan({
  of = V1,
  unit = RUNS,
  file,
  without,
  observed,
  drift: known,
  input,
}: Case): ReturnType<typeof planComponent> {
  const base = installed(of, { units: new Map([['proxy', unit]]), ...observed });
  const changed = { ...base.files.get(CONFIG), type: 'File' as const, mode: '0644', owner: ROOT, ...file };
  const files = [...base.files, ...(file ? [[CONFIG, changed] as const] : [])];
  return planComponent(
    componentInput(
      {
        desired: present(of),
        targets: new Map([[of.id, of]]),
        observed: { ...base, files: new Map(files.filter(([path]) => path !== without)) },
        drift: known ?? drift(started('Right')),
        ...input,
      },
      { current: of.id, state: 'Committed' },
    ),
  );
}

function explain(each: Case): string {
  const found = plan(each);
  const findings = found.findings.map(({ subject, kind, action }) => `${action} ${kind} ${subject}`);
  return [explainPlan(found), ...findings].join('; ');
}

const REPORTING = target('1.0', { files: [agentFile(CONFIG, 'version 1.0\n', { drift: 'Report' })] });
const IGNORING = target('1.0', { files: [agentFile(CONFIG, 'version 1.0\n', { drift: 'Ignore' })] });
const RELOADING = target('1.0', { files: [agentFile(CONFIG, 'version 1.0\n', { onChange: 'Reload' })] });
const STOPPING = target('1.0', { units: [agentUnit('proxy', { running: false, enabled: false })] });

const WRITE = `record Content ${CONFIG}: ${CONFIG} has other content: line 1, WriteFile ${CONFIG}`;
const RESTART = 'record Process proxy: unit proxy started on wrong content, StopUnit proxy, StartUnit proxy';
const DAMAGED = { programs: new Map([[PROGRAM, { found: 'bad', expected: 'good' }]]) };
const PROGRAMS = { programs: new Map([[PROGRAM, { found: 'good', expected: 'good' }]]) };

describe('planComponent keeps the version in force', () => {
  it.each<[name: string, of: Case, expected: string]>([
    ['has nothing to do', {}, 'nothing'],
    ['AGT-30 writes other content back', { file: { content: 'x' } }, `${WRITE}; Corrected Content ${CONFIG}`],
    [
      'AGT-30 sets another mode back',
      { file: { mode: '0600' } },
      `record Mode ${CONFIG}: ${CONFIG} has mode 0600, not 0644, WriteFile ${CONFIG}; Corrected Mode ${CONFIG}`,
    ],
    [
      'AGT-30 writes a missing file',
      { without: CONFIG },
      `record Missing ${CONFIG}: ${CONFIG} is missing, WriteFile ${CONFIG}; Corrected Missing ${CONFIG}`,
    ],
    [
      'AGT-30 reloads after content that only needs that',
      { of: RELOADING, file: { content: 'x' } },
      `${WRITE}, ReloadUnit proxy; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-30 only reports a file with policy Report',
      { of: REPORTING, file: { content: 'x' } },
      `nothing; Reported Content ${CONFIG}`,
    ],
    ['AGT-30 leaves a file with policy Ignore', { of: IGNORING, file: { content: 'x' } }, 'nothing'],
    [
      'AGT-32 points a link back',
      { without: '/usr/local/bin/proxy' },
      `record Missing /usr/local/bin/proxy: /usr/local/bin/proxy is not a link to ${PROGRAM}, Link /usr/local/bin/proxy; Corrected Missing /usr/local/bin/proxy`,
    ],
    [
      'AGT-32 unpacks a replaced program again',
      { observed: DAMAGED },
      `record Content ${PROGRAM}: ${PROGRAM} has other content, VerifyArtifact, Unpack; Corrected Content ${PROGRAM}`,
    ],
    [
      'AGT-32 downloads what is not in the cache any more',
      { observed: { ...DAMAGED, artifacts: new Map() } },
      `record Content ${PROGRAM}: ${PROGRAM} has other content, Download, VerifyArtifact, Unpack; Corrected Content ${PROGRAM}`,
    ],
    [
      'AGT-31 starts a stopped unit without a grant',
      { unit: STOPPED, input: NO_GRANT },
      'record Run proxy: unit proxy does not run, StartUnit proxy; Corrected Run proxy',
    ],
    [
      'AGT-31 unmasks, enables and starts',
      { unit: { ...STOPPED, enabled: false, masked: true } },
      'record Unit proxy: unit proxy is masked, SetEnabled proxy, record Run proxy: unit proxy does not run, StartUnit proxy; Corrected Unit proxy; Corrected Run proxy',
    ],
    [
      'AGT-31 starts a failed unit',
      { unit: { ...STOPPED, active: 'Failed', result: 'exit code 203' } },
      'record Run proxy: unit proxy has failed (exit code 203), StartUnit proxy; Corrected Run proxy',
    ],
    [
      'AGT-31 reports a process that a signal has stopped',
      { unit: { ...RUNS, process: { ...PROCESS, isSuspended: true } } },
      'nothing; Reported Run proxy',
    ],
    ['leaves a unit that is being started', { unit: { ...STOPPED, active: 'Activating' } }, 'nothing'],
    [
      'stops a unit that must not run',
      { of: STOPPING },
      'record Unit proxy: unit proxy is enabled, SetEnabled proxy, record Run proxy: unit proxy runs, StopUnit proxy; Corrected Unit proxy; Corrected Run proxy',
    ],
    [
      'remembers a process that started on right content',
      { drift: NO_DRIFT },
      'record Right proxy: another process',
    ],
    [
      'AGT-31 remembers a process that started on wrong content',
      { drift: drift(started('Right', 'p0')), file: { content: 'x' } },
      `record Wrong proxy: another process, ${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-33 does not blame the mode of a file',
      { drift: NO_DRIFT, file: { mode: '0600' } },
      `record Right proxy: another process, record Mode ${CONFIG}: ${CONFIG} has mode 0600, not 0644, WriteFile ${CONFIG}; Corrected Mode ${CONFIG}`,
    ],
    [
      'AGT-33 restarts nothing that ran before the edit',
      { file: { content: 'x' }, input: NO_GRANT },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-33 waits for a grant to restart what started on wrong content',
      { drift: drift(started('Wrong')), input: NO_GRANT },
      'wait GrantNeeded: unit proxy started on wrong content: its restart waits for a grant; Reported Process proxy',
    ],
    [
      'AGT-33 waits for another grant when the one in the entry has expired',
      {
        drift: drift(started('Wrong')),
        input: { desired: { state: 'Present', target: V1, grant: { ...GRANT, expired: true } } },
      },
      'wait GrantNeeded: unit proxy started on wrong content: its restart waits for a grant; Reported Process proxy',
    ],
    [
      'AGT-33 waits for another grant when the one in the entry is for other content',
      {
        drift: drift(started('Wrong')),
        input: { desired: { state: 'Present', target: V1, grant: { ...GRANT, entryDigest: 'other' } } },
      },
      'wait GrantNeeded: unit proxy started on wrong content: its restart waits for a grant; Reported Process proxy',
    ],
    [
      'waits before it repeats a correction that failed',
      {
        file: { content: 'x' },
        input: { failure: { code: 'DiskFull', message: 'full', retryAt: new Date(NOW.getTime() + 1) } },
      },
      `wait RetryPending: full; Waiting Content ${CONFIG}`,
    ],
    [
      'repeats a correction that failed when its time has come',
      { file: { content: 'x' }, input: { failure: { code: 'DiskFull', message: 'full', retryAt: NOW } } },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-33 restarts it with the grant',
      { drift: drift(started('Wrong')) },
      `${RESTART}; Corrected Process proxy`,
    ],
    [
      'restarts no process that was started again',
      { drift: drift(started('Wrong', 'p0'), started('Right')) },
      'nothing',
    ],
    [
      'AGT-31 finds a process that runs another program',
      {
        drift: NO_DRIFT,
        observed: PROGRAMS,
        unit: { ...RUNS, process: { ...PROCESS, programDigest: 'bad' } },
      },
      `record Wrong proxy: another process, ${RESTART}; Corrected Process proxy`,
    ],
    [
      'AGT-33 gives up after three corrections in ten minutes',
      {
        file: { content: 'x' },
        drift: drift(started('Right'), corrected(CONFIG, 1), corrected(CONFIG, 2), corrected(CONFIG, 599)),
      },
      `nothing; GaveUp Content ${CONFIG}`,
    ],
    [
      'AGT-42 does not give up for corrections of a time that the clock, set back since, has not reached',
      {
        file: { content: 'x' },
        drift: drift(
          started('Right'),
          corrected(CONFIG, -1),
          corrected(CONFIG, -2),
          corrected(CONFIG, -86_400),
        ),
      },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-33 gives up on a process that is wrong after each restart',
      { drift: drift(started('Wrong'), ...[3, 2, 1].map((ago) => corrected('proxy', ago, 'Process'))) },
      'nothing; GaveUp Process proxy',
    ],
    [
      'AGT-33 restarts a process that is wrong, however often its unit was started',
      { drift: drift(started('Wrong'), ...[4, 3, 2, 1].map((ago) => corrected('proxy', ago, 'Run'))) },
      `${RESTART}; Corrected Process proxy`,
    ],
    [
      'AGT-31 waits for a grant to restart a kubelet whose Node was deleted',
      {
        of: KUBELET,
        drift: drift(started('Right')),
        input: { ...NO_NODE, desired: { state: 'Present', target: KUBELET } },
      },
      `wait GrantNeeded: unit proxy started before the Node was deleted (${DELETED_AT.toISOString()}): its restart waits for a grant; Reported Process proxy`,
    ],
    [
      'AGT-31 restarts it with the grant, however often the Node is deleted',
      {
        of: KUBELET,
        drift: drift(started('Right'), ...[3, 2, 1].map((ago) => corrected('proxy', ago, 'Process'))),
        input: NO_NODE,
      },
      `record Process proxy: unit proxy started before the Node was deleted (${DELETED_AT.toISOString()}), StopUnit proxy, StartUnit proxy; Corrected Process proxy`,
    ],
    [
      'HOS-22 waits for a grant before a kubelet takes other authorities',
      {
        of: KUBELET,
        drift: drift(started('Right')),
        input: { ...ROTATED, desired: { state: 'Present', target: KUBELET } },
      },
      `wait GrantNeeded: ${ROTATED_BECAUSE}: its restart waits for a grant; Reported Process proxy`,
    ],
    [
      'HOS-22 restarts it with the grant',
      { of: KUBELET, drift: drift(started('Right')), input: ROTATED },
      `record Process proxy: ${ROTATED_BECAUSE}, StopUnit proxy, StartUnit proxy; Corrected Process proxy`,
    ],
    [
      'HOS-22 restarts it three times at most in ten minutes',
      {
        of: KUBELET,
        drift: drift(started('Right'), ...[3, 2, 1].map((ago) => corrected('proxy', ago, 'Process'))),
        input: ROTATED,
      },
      'nothing; GaveUp Process proxy',
    ],
    ['HOS-22 restarts no other program', { drift: drift(started('Right')), input: ROTATED }, 'nothing'],
    [
      'AGT-31 waits before a fourth start in ten minutes',
      { unit: STOPPED, drift: drift(...[3, 2, 1].map((ago) => corrected('proxy', ago, 'Run'))) },
      'nothing; Waiting Run proxy',
    ],
    [
      'AGT-31 starts it again after that wait',
      { unit: STOPPED, drift: drift(...[4, 3, 2].map((ago) => corrected('proxy', ago, 'Run'))) },
      'record Run proxy: unit proxy does not run, StartUnit proxy; Corrected Run proxy',
    ],
    [
      'AGT-33 tries again when one of them is older',
      {
        file: { content: 'x' },
        drift: drift(started('Right'), corrected(CONFIG, 600), corrected(CONFIG, 2), corrected(CONFIG, 1)),
      },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-33 counts each path for itself',
      {
        file: { content: 'x' },
        drift: drift(started('Right'), corrected('/a', 1), corrected('/a', 2), corrected(CONFIG, 3)),
      },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-34 corrects nothing while all is held',
      { file: { content: 'x' }, input: { brakes: { ...FREE, hold: 'All' } } },
      `nothing; Reported Content ${CONFIG}`,
    ],
    [
      'AGT-34 writes back and restarts nothing while disruptive acts are held',
      { file: { content: 'x' }, input: { brakes: { ...FREE, hold: 'Disruptive' } } },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-34 keeps a restart for later while disruptive acts are held',
      { drift: drift(started('Wrong')), input: { brakes: { ...FREE, hold: 'Disruptive' } } },
      'wait Held: a restart is needed, and the machine is held; Reported Process proxy',
    ],
    [
      'AGT-54 keeps a restart for later while a repair job runs',
      { drift: drift(started('Wrong')), input: { brakes: { ...FREE, jobRunning: true } } },
      'wait JobRunning: a restart is needed, and a repair job is running on this machine; Reported Process proxy',
    ],
    [
      'AGT-40 corrects without the API server',
      { file: { content: 'x' }, input: { brakes: { ...FREE, online: false } } },
      `${WRITE}; Corrected Content ${CONFIG}`,
    ],
    [
      'AGT-40 keeps a restart for later while the API server is away, with a grant, too',
      { drift: drift(started('Wrong')), input: { brakes: { ...FREE, online: false } } },
      'wait Offline: a restart is needed, and the API server does not answer; Reported Process proxy',
    ],
    [
      'keeps a component whose entry was removed',
      { file: { content: 'x' }, input: { desired: { state: 'Orphaned' } } },
      `${WRITE}, wait Orphaned: the entry was removed from the Machine: the component is kept; Corrected Content ${CONFIG}`,
    ],
  ])('%s', (_, of, expected) => {
    expect(explain(of)).toBe(expected);
  });

  it('AGT-33 counts the corrections of a component in the journal', () => {
    const { actions } = plan({
      file: { content: 'x' },
      without: '/usr/local/bin/proxy',
      drift: drift(started('Right'), corrected('/a', 1)),
    });
    const totals = actions.flatMap((each) =>
      each.type === 'Record' && each.record.type === 'Correction' ? each.record.total : [],
    );
    expect(totals).toEqual([2, 3]);
  });
});
