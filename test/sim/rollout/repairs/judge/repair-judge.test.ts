import { describe, expect, it } from 'vitest';
import type { DefenderLedger, JobRelease } from '../../../../../src/api/generated/types.ts';
import { LEDGER } from '../../../../../src/api/names.ts';
import { createSimulatedApi, type SimulatedApi } from '../../../../../src/sim/api-server/simulated-api.ts';
import {
  createRepairJudge,
  type RepairJudge,
} from '../../../../../src/sim/rollout/repairs/judge/repair-judge.ts';
import { judgedJob, judgedLedger, judgedNode } from '../repair-objects.ts';

const RELEASE: JobRelease = {
  step: 's1',
  try: 1,
  fence: 1,
  nodeUID: 'node-uid-1',
  bootID: 'boot-1',
  notAfter: new Date(60_000).toISOString(),
};

interface Judged {
  readonly api: SimulatedApi;
  readonly judge: RepairJudge;
}

function ledger(grant: Parameters<typeof judgedLedger>[0] = {}): DefenderLedger {
  return { ...judgedLedger(grant), metadata: { name: LEDGER } };
}

function nowMs(): number {
  return 1000;
}

/** Whose API server has a live grant for the job. */
function judged(): Judged {
  const api: SimulatedApi = createSimulatedApi({ nowMs, changed: (change) => judge.written(change) });
  const judge = createRepairJudge({ api, nowMs, hosts: new Map(), maxUnavailable: 1 });
  api.put(ledger());
  return { api, judge };
}

function found({ judge }: Judged): readonly string[] {
  return judge.violations.map(({ what }) => what);
}

describe('createRepairJudge', () => {
  it('finds nothing in a repair that keeps every promise, and counts it', () => {
    const run = judged();
    const { api, judge } = run;
    api.put(judgedJob());
    api.put(judgedNode({ mark: 'g-1', isCordoned: true }));
    api.put(judgedJob({}, { release: RELEASE }));
    judge.began(judgedJob(), RELEASE);
    judge.rebooted('m-1', 'job-1/s1/1');
    api.put(judgedNode({}));
    const ended = judgedJob({ outcome: 'Succeeded' });
    api.put({ ...ended, metadata: judgedJob().metadata });
    api.put(ledger({ state: 'Settled', outcome: 'Succeeded' }));
    api.put(ended);
    expect(found(run)).toEqual([]);
    expect(judge.counts).toMatchObject({ jobs: 1, reboots: 1, outcomes: { Succeeded: 1 } });
  });

  it.each([
    ['a release', ({ api }: Judged) => api.put(judgedJob({}, { release: RELEASE }))],
    ['a cordon', ({ api }: Judged) => api.put(judgedNode({ mark: 'g-1', isCordoned: true }))],
    ['a step of an agent', ({ judge }: Judged) => judge.began(judgedJob(), RELEASE)],
  ] as const)('judges %s by the ledger of that moment', (_, write) => {
    const run = judged();
    run.api.put(judgedJob());
    run.api.put(ledger({ id: 'g-7' }));
    write(run);
    expect(found(run)).toEqual(['a step without a grant in the ledger']);
  });

  it('R31 finds a second reboot of one try, and a try that the rung does not have', () => {
    const run = judged();
    run.api.put(judgedJob());
    for (let time = 0; time < 2; time += 1) {
      run.judge.began(judgedJob(), RELEASE);
      run.judge.rebooted('m-1', 'job-1/s1/1');
    }
    expect(found(run)).toEqual(['more tries of s1 than the rung has', 'a second reboot of one try']);
  });

  it('leaves to people what people do', () => {
    const run = judged();
    const { api, judge } = run;
    const cordoned = judge.byPerson(() => api.put(judgedNode({ isCordoned: true })));
    expect(judge.isOfPerson(cordoned)).toBe(true);
    judge.byPerson(() => api.put({ ...cordoned, spec: {} }));
    expect(found(run)).toEqual([]);
  });

  it('finds two machines where one is allowed, once', () => {
    const run = judged();
    const steps = [{ id: 's1', state: 'Running' }] as const;
    run.api.put(judgedJob({ machine: 'm-1' }, { steps }));
    run.api.put(judgedJob({ machine: 'm-2', uid: 'job-2' }, { steps }));
    run.api.put(judgedJob({ machine: 'm-2', uid: 'job-2' }, { steps, phase: 'Running' }));
    expect(found(run)).toEqual(['updates and repairs on 2 machines, and 1 allowed']);
  });

  it('finds a finalizer that leaves a grant, and what is left at the end', () => {
    const run = judged();
    run.api.put(judgedJob());
    run.api.put(judgedJob({ outcome: 'Succeeded' }));
    expect(found(run)).toEqual(['a job gave up its finalizer with an open grant']);
    run.judge.quiet();
    expect(found(run).slice(1)).toEqual(['the grant of a job is left']);
  });
});
