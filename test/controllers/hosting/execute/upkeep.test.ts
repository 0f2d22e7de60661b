import { describe, expect, it } from 'vitest';
import { HostingError } from '../../../../src/controllers/hosting/errors.ts';
import {
  createUpkeepRuns,
  type UpkeepRuns,
  type UpkeepTask,
} from '../../../../src/controllers/hosting/execute/upkeep.ts';
import { NOW } from '../../../support/builders.ts';
import { memoryLog } from '../../../support/memory-log.ts';

const CI = { name: 'ci', uid: 'uid-ci' };

interface Begun {
  readonly runs: UpkeepRuns;
  readonly changed: string[];
  readonly log: ReturnType<typeof memoryLog>;
  readonly close: () => void;
  readonly begin: (work: UpkeepTask['work'], owner?: typeof CI) => void;
}

function opened(): Begun {
  const runs = createUpkeepRuns();
  const changed: string[] = [];
  const log = memoryLog();
  const close = runs.open((cluster) => changed.push(cluster));
  const begin: Begun['begin'] = (work, owner = CI) =>
    runs.begin(owner, { type: 'Backup', startedAt: NOW, work, log });
  return { runs, changed, log, close, begin };
}

/** Runs until its signal aborts it. */
const endless: UpkeepTask['work'] = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

async function settled(): Promise<void> {
  await new Promise(setImmediate);
}

describe('what runs beside the reconciles', () => {
  it('HOS-32 shows a backup with its step until it has ended, and starts a reconcile at each step', async () => {
    const { runs, changed, begin } = opened();
    const gate = Promise.withResolvers<void>();
    begin(async ({ onStep }) => {
      onStep('Opening');
      await gate.promise;
    });
    expect(runs.find(CI)).toEqual({ type: 'Backup', startedAt: NOW, step: 'Opening' });
    gate.resolve();
    await settled();
    expect([runs.find(CI), changed]).toEqual([undefined, ['ci', 'ci']]);
  });

  it('HOS-32 starts no reconcile for a step that is reported again', async () => {
    const { changed, begin } = opened();
    begin(async ({ onStep }) => {
      for (const step of ['Waiting', 'Copying', 'Copying', 'Opening'] as const) onStep(step);
    });
    await settled();
    expect(changed).toEqual(['ci', 'ci', 'ci']);
  });

  it('HOS-32 begins no second backup of a control plane, and one of another control plane', () => {
    const { runs, begin } = opened();
    const begun: string[] = [];
    const note =
      (what: string): UpkeepTask['work'] =>
      async (control) => {
        begun.push(what);
        await endless(control);
      };
    begin(note('first'));
    begin(note('second'));
    begin(note('recreated'), { ...CI, uid: 'another' });
    begin(note('other'), { name: 'other', uid: 'other' });
    expect(begun).toEqual(['first', 'other']);
    expect(runs.find({ ...CI, uid: 'another' })).toBeUndefined();
  });

  it('HOS-32 logs a failure, and starts a reconcile unless a drill was postponed', async () => {
    const { changed, log, begin } = opened();
    begin(() => Promise.reject(new Error('no disk')));
    await settled();
    expect(log.lines.map(({ message, fields }) => [message, fields])).toEqual([
      ['upkeep of etcd failed', { act: 'Backup', reason: 'no disk' }],
    ]);
    begin(() => Promise.reject(new HostingError('DrillPostponed', 'memory is short', { where: 'here' })));
    await settled();
    expect(changed).toEqual(['ci']);
  });

  it('HOS-32 ends a backup, and resolves when nothing of it is left', async () => {
    const { runs, log, begin } = opened();
    const order: string[] = [];
    begin(async (control) => {
      await endless(control).catch(() => undefined);
      await settled();
      order.push('cleaned');
      control.signal.throwIfAborted();
    });
    await runs.end('ci');
    order.push('ended');
    expect([order, runs.find(CI), log.lines]).toEqual([['cleaned', 'ended'], undefined, []]);
    await runs.end('ci');
  });

  it('HOS-32 ends all of them with the process, and starts no reconcile then', async () => {
    const { runs, changed, close, begin } = opened();
    begin(endless);
    close();
    await settled();
    expect([runs.find(CI), changed]).toEqual([undefined, []]);
  });
});
